"""The names of gem-llm, for frameworks that were written for it: RL2, ROLL, and programs of your own.

gem-llm's package is called `gem` too, so this one has another name and gem-llm's modules below it, as far as frameworks
use them. In a file of your own, change the imports:

```python
from gem_interop import gem_llm as gem
from gem_interop.gem_llm.wrappers.wrapper_factory import get_wrapper_fns

env = gem.make(env_id="game:GuessTheNumber-v0-easy", seed=233)
for wrapper in get_wrapper_fns("concat"):
    env = wrapper(env)
observation, info = env.reset()
observation, reward, terminated, truncated, info = env.step("\\\\boxed{5}")
```

For a framework, `install("roll")` lets `import gem` mean this package in the modules of `roll`, and in no others. `gem`
itself is not changed. The environments are GEM's, and they behave as GEM's: see docs/coming-from-gem-llm.md.
"""

from typing import Any

from gem_interop.gem_llm.core import Env
from gem_interop.gem_llm.envs.registration import make, make_vec, print_envs, register
from gem_interop.gem_llm.redirect import install

__all__ = ["Env", "install", "make", "make_vec", "print_envs", "register"]


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(name)
    raise AttributeError(f"gem_interop.gem_llm does not have {name!r}: GEM's own names are in the module gem")
