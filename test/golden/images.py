"""Writes images.json: small images as libjpeg-turbo and libpng write them, and the samples that they read back.

Run with pillow 13.0.0, simplejpeg 1.9.0, tensorstore 0.1.86: python images.py > images.json
"""

import base64
import io
import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import simplejpeg
import tensorstore as ts
from PIL import Image

rng = np.random.default_rng(11)


def picture(height, width, channels, dtype=np.uint8):
    y, x = np.mgrid[0:height, 0:width]
    waves = np.stack([0.5 + 0.4 * np.sin(x / (5 + k) + y / (9 - k)) for k in range(channels)], -1)
    top = np.iinfo(dtype).max
    return np.clip((waves + rng.normal(0, 0.05, waves.shape)) * top, 0, top).astype(dtype)


cases = []


def add(name, codec, shape, dtype, encoded, decoded):
    """`shape` is [channel, z, y, x]; `decoded` has the samples of a pixel together."""
    planes = np.moveaxis(np.asarray(decoded).reshape(-1, shape[0]), -1, 0)
    text = base64.b64encode(planes.astype(dtype).tobytes()).decode()
    cases.append(dict(name=name, codec=codec, shape=shape, dtype=dtype, encoded=base64.b64encode(encoded).decode(), decoded=text))


def pillow(name, image, **options):
    out = io.BytesIO()
    Image.fromarray(image.squeeze(-1) if image.shape[2] == 1 else image).save(out, "JPEG", **options)
    read = np.asarray(Image.open(io.BytesIO(out.getvalue())))
    add(name, "jpeg", [image.shape[2], 1, *image.shape[:2]], "|u1", out.getvalue(), read)


pillow("grey", picture(20, 17, 1))
pillow("grey, progressive, restarts", picture(20, 17, 1), progressive=True, restart_marker_blocks=2)
pillow("grey, noise", rng.integers(0, 256, (16, 16, 1), dtype=np.uint8), quality=95, optimize=True)
for sampling in ["4:4:4", "4:2:2", "4:2:0"]:
    pillow(f"colour {sampling}", picture(19, 21, 3), subsampling=sampling)
    pillow(f"colour {sampling}, progressive", picture(19, 21, 3), subsampling=sampling, progressive=True, quality=95)
pillow("colour 4:2:0, two pixels wide", picture(19, 2, 3), subsampling="4:2:0")
pillow("colour without a change of colours", picture(9, 9, 3), keep_rgb=True)
for sampling in ["440", "411"]:
    encoded = simplejpeg.encode_jpeg(np.ascontiguousarray(picture(19, 21, 3)), colorsubsampling=sampling)
    add(f"colour {sampling}", "jpeg", [3, 1, 19, 21], "|u1", encoded, simplejpeg.decode_jpeg(encoded))

for dtype in [np.uint8, np.uint16]:
    for channels in [1, 2, 3, 4]:
        name = np.dtype(dtype).name
        with tempfile.TemporaryDirectory() as folder:
            scale = dict(size=[7, 5, 3], encoding="png", chunk_size=[7, 5, 3], resolution=[1, 1, 1])
            volume = dict(type="image", data_type=name, num_channels=channels)
            store = dict(driver="file", path=folder + "/")
            spec = dict(driver="neuroglancer_precomputed", kvstore=store, multiscale_metadata=volume, scale_metadata=scale)
            values = picture(15, 7, channels, dtype)
            # Rows of the picture are rows along x.
            array = values.reshape(3, 5, 7, channels).transpose(2, 1, 0, 3)
            ts.open(spec, create=True).result().write(array).result()
            (chunk,) = [path for path in Path(folder).rglob("0-7*")]
            add(f"{name}, {channels} channels", "png", [channels, 3, 5, 7], np.dtype(dtype).newbyteorder("<").str, chunk.read_bytes(), values)

origin = "pillow 13.0.0, simplejpeg 1.9.0, tensorstore 0.1.86; made by images.py"
json.dump(dict(origin=origin, cases=cases), sys.stdout, indent=1)
print()
