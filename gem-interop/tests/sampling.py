"""Replies of a tiny model, one request at a time: behind the seam where a framework has its engine."""

import torch


@torch.no_grad()
def sample(model, ids: list[int], *, most: int, ends, temperature: float = 1.0) -> tuple[list[int], list[float]]:
    """Sampled ids, which stop after one of `ends`, and their log-probabilities."""
    made = model.generate(
        input_ids=torch.tensor([ids]),
        attention_mask=torch.ones(1, len(ids), dtype=torch.long),
        max_new_tokens=most,
        do_sample=True,
        temperature=temperature,
        top_k=0,
        top_p=1.0,
        eos_token_id=sorted(ends),
        pad_token_id=256,
        return_dict_in_generate=True,
        output_logits=True,
    )
    said = made.sequences[0, len(ids) :]
    scores = torch.stack(made.logits, dim=1)[0].float() / temperature
    return said.tolist(), scores.log_softmax(-1).gather(-1, said[:, None])[:, 0].tolist()
