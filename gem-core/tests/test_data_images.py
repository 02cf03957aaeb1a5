"""Images of rows are content parts with the bytes of their files, and are never decoded."""

import base64
from importlib.util import find_spec

import pytest

from gem.data import open_table
from gem.data.images import image_part
from gem.errors import ConfigError

FILES = {
    "png": b"\x89PNG\r\n\x1a\n and the rest",
    "jpeg": b"\xff\xd8\xff\xe0 and the rest",
    "gif": b"GIF89a and the rest",
    "webp": b"RIFF\x10\0\0\0WEBP and the rest",
}


def part(kind):
    return {
        "type": "image_url",
        "image_url": {"url": f"data:image/{kind};base64,{base64.b64encode(FILES[kind]).decode()}"},
    }


@pytest.mark.parametrize("kind", FILES)
def test_an_image_is_a_file_its_bytes_or_a_data_url(kind, tmp_path):
    content, path = FILES[kind], tmp_path / "image"
    path.write_bytes(content)
    stored = [{"bytes": content, "path": None}, {"bytes": None, "path": str(path)}]
    for image in (content, path, str(path), *stored, part(kind)["image_url"]["url"]):
        assert image_part(image) == part(kind)


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (b"BM, a bitmap", "is a PNG, JPEG, GIF or WebP file; this one begins with b'BM, a bi'"),
        ("data:text/html;base64,PGI+", "has the form 'data:image/png;base64,…', not 'data:text/html;base64,PGI"),
        ("data:image/png;base64,<script>", "has the form"),
        ("/nowhere/figure.png", "'/nowhere/figure.png' cannot be read: .*No such file"),
        ("https://example.org/figure.png", "cannot be read"),
        ("a\0b", "cannot be read"),
        ({"bytes": None, "path": None}, "is the bytes of its file, a data URL or a path, not NoneType"),
        (7, "not int"),
    ],
)
def test_what_is_not_an_image_is_refused(image, message):
    with pytest.raises(ConfigError, match=message):
        image_part(image)


@pytest.mark.full
@pytest.mark.skipif(find_spec("datasets") is None, reason="datasets is not installed")
def test_a_table_has_the_files_of_images_however_deep_they_stand(tmp_path):
    # A decoder would fail: these are no images behind their first bytes.
    import datasets

    stored = [{"bytes": content, "path": None} for content in FILES.values()]
    text = datasets.Value("string")
    types = {"one": datasets.Image(), "all": [datasets.Image()], "deep": {"in": datasets.Image()}, "text": text}
    rows = [{"one": image, "all": stored, "deep": {"in": image}, "text": str(n)} for n, image in enumerate(stored)]
    dataset = datasets.Dataset.from_list(rows, features=datasets.Features(types))
    dataset.to_parquet(str(tmp_path / "rows.parquet"))

    for data in (
        dataset,
        {"name": str(tmp_path / "rows.parquet")},
        {"name": str(tmp_path / "rows.parquet"), "limit": 4},
    ):
        assert list(open_table(data)) == rows
    chosen = open_table({"name": str(tmp_path / "rows.parquet"), "where": {"text": ["1", "3"]}}, {"label": "text"})
    assert [(row["label"], row["one"]) for row in chosen] == [("1", stored[1]), ("3", stored[3])]
