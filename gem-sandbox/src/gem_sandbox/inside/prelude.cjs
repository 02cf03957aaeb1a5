// Programs read /dev/stdin by its name, which needs /proc, and that is not there: it is descriptor 0.
"use strict";
const fs = require("fs");
for (const name of ["readFileSync", "readFile", "openSync", "open", "createReadStream"]) {
  const known = fs[name];
  fs[name] = function (path, ...rest) {
    if (path === "/dev/stdin") {
      if (name === "openSync") return 0;
      if (name === "open") return void process.nextTick(rest[rest.length - 1], null, 0);
      if (name === "createReadStream") return known.call(this, null, { ...rest[0], fd: 0 });
      path = 0;
    }
    return known.call(this, path, ...rest);
  };
}
