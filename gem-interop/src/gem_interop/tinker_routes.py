"""SkyRL 0.3.0's server, for clients of tinker 0.38.0: `examples/frameworks/tinker_skyrl_server.py` starts it.

tinker speaks protobuf for samples and gradients, and SkyRL JSON: two routes translate, one adds the ids of samples, and
one is new.
"""

# Both are installed only in an environment of their own.
# pyright: reportMissingImports=false, reportUntypedFunctionDecorator=false, reportUnknownParameterType=false
# pyright: reportInvalidTypeForm=false
# ruff: noqa: E402

from typing import Annotated, Any

from gem_interop.versions import check

OLDEST, NEWEST = "0.3.0", "0.3.0"
check("skyrl", OLDEST, NEWEST, page="tinker")
check("tinker", "0.38.0", "0.38.0", page="tinker")

import numpy as np
from fastapi import Depends, Request, Response
from skyrl.tinker import api
from sqlmodel.ext.asyncio.session import AsyncSession
from tinker.proto import tinker_public_pb2 as pb


def from_proto(data: bytes) -> dict[str, Any]:
    """A request for gradients, as SkyRL reads it."""
    given = pb.ForwardBackwardRequest.FromString(data)
    kinds = {pb.DTYPE_FLOAT32: np.float32, pb.DTYPE_INT64: np.int64}
    rows = [
        {
            "model_input": {
                "chunks": [
                    {"tokens": np.frombuffer(c.encoded_text.tokens, np.int32).tolist()} for c in datum.model_input
                ]
            },
            "loss_fn_inputs": {
                name: {"data": np.frombuffer(tensor.dense, kinds[tensor.dtype]).tolist()}
                for name, tensor in datum.loss_fn_inputs.items()
            },
        }
        for datum in given.data
    ]
    what = {"data": rows, "loss_fn": given.loss_fn, "loss_fn_config": dict(given.loss_fn_config) or None}
    return {"model_id": given.model_id, "forward_backward_input": what}


def to_proto(result: dict[str, Any]) -> bytes:
    """Samples or gradients, as tinker reads them."""
    if "sequences" in result:
        made = pb.SampleResponse()
        for each in result["sequences"]:
            made.sequences.add(
                stop_reason=pb.STOP_REASON_STOP if each["stop_reason"] == "stop" else pb.STOP_REASON_LENGTH,
                tokens=np.array(each["tokens"], np.int32).tobytes(),
                logprobs=np.array(each["logprobs"], np.float32).tobytes(),
            )
        if result.get("prompt_logprobs"):
            made.prompt_logprobs = np.array([np.nan, *result["prompt_logprobs"]], np.float32).tobytes()
        return made.SerializeToString()
    made = pb.ForwardBackwardOutput(loss_fn_output_type="ArrayRecord", metrics=result["metrics"])
    rows = result["loss_fn_outputs"]
    record = made.loss_fn_outputs.add(num_datums=len(rows))
    for name in rows[0]:
        parts = [np.array(row[name]["data"], np.float32) for row in rows]
        offsets = np.cumsum([0, *(part.nbytes for part in parts)]).astype(np.int64).tobytes()
        field = pb.BatchedTensor(data=b"".join(map(bytes, parts)), offsets=offsets, dtype=pb.DTYPE_FLOAT32)
        record.fields[name].CopyFrom(field)
    return made.SerializeToString()


def add_routes() -> None:
    """Put routes in front of those of SkyRL's `api.app`."""
    Session = Annotated[AsyncSession, Depends(api.get_session)]  # noqa: N806
    theirs = list(api.app.router.routes)

    @api.app.post("/api/v1/forward_backward")
    async def forward_backward(request: Request, session: Session):
        given = api.ForwardBackwardRequest.model_validate(from_proto(await request.body()))
        return await api.forward_backward(given, session)

    @api.app.post("/api/v1/asample")
    async def asample(given: api.SampleRequest, request: Request, session: Session):
        future = (await api.asample(given, request, session)).model_dump()
        return future | {"sample_sequence_ids": [f"{future['request_id']}-{each}" for each in range(given.num_samples)]}

    @api.app.post("/api/v1/retrieve_future")
    async def retrieve_future(given: api.RetrieveFutureRequest, request: Request):
        result = await api.retrieve_future(given, request)
        if "protobuf" in request.headers.get("accept", "") and ("sequences" in result or "loss_fn_outputs" in result):
            return Response(to_proto(result), media_type="application/x-protobuf")
        return result

    @api.app.post("/api/v1/sessions/{session_id}/finish")
    async def finish(session_id: str):
        return {}

    ours = [route for route in api.app.router.routes if route not in theirs]
    api.app.router.routes[:] = [*ours, *theirs]
