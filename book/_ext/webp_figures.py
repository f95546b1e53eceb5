"""Serve the notebooks' figures as WebP without loss: the same pixels in a third of the bytes.

Each figure says how large it is, so that the text does not move when it arrives, and is loaded when a reader comes near.
A figure that has a second picture, with its panels one below the other, shows that one in a narrow window.
"""

import hashlib
import os
import posixpath
import re
from pathlib import Path

from docutils import nodes
from PIL import Image
from sphinx.transforms.post_transforms import SphinxPostTransform


class PngToWebP(SphinxPostTransform):
    """Put a WebP picture in the place of each PNG picture; one that an earlier build made is taken as it is."""

    default_priority = 200  # when the notebook's reader has chosen what to show of an output
    formats = ("html",)

    def run(self):
        # Most figures of the Korean pages are those of the English ones.
        folder = Path(os.environ.get("ENGLISH_DOCTREES", self.app.doctreedir), "webp")
        folder.mkdir(parents=True, exist_ok=True)
        for node in self.document.findall(nodes.image):
            if not node["candidates"].get("*", "").endswith(".png"):
                continue
            node["uri"], node["pixels"] = self.webp(folder, node["uri"])
            node["candidates"]["*"] = node["uri"]
            if "narrow" in node:
                node["narrow"], node["narrow_pixels"] = self.webp(folder, node["narrow"])
                # Sphinx itself copies only what a `uri` names.
                self.app.builder.images[node["narrow"]] = self.env.images[node["narrow"]][1]

    def webp(self, folder, source):
        """Return the path of the picture as WebP, and its size in pixels."""
        source = Path(self.app.srcdir, source)
        target = folder / f"{hashlib.sha256(source.read_bytes()).hexdigest()}.webp"
        with Image.open(source) as picture:
            if not target.exists():
                picture.save(target, lossless=True, exact=True)
            self.env.images.add_file(self.env.docname, str(target))
            return str(target), picture.size


def visit_image(self, node):
    type(self).visit_image(self, node)
    if "pixels" in node:
        attributes = '<img width="{}" height="{}" loading="lazy" decoding="async" '.format(*node["pixels"])
        self.body[-1] = self.body[-1].replace("<img ", attributes, 1)
    if "narrow" in node:
        source = '<picture><source media="(max-width: 600px)" srcset="{}" width="{}" height="{}">'.format(
            posixpath.join(self.builder.imgpath, self.builder.images[node["narrow"]]), *node["narrow_pixels"]
        )
        self.body[-1] = re.sub(r"<img [^>]*>", lambda image: f"{source}{image[0]}</picture>", self.body[-1])


def depart_image(self, node):
    type(self).depart_image(self, node)


def setup(app):
    app.add_post_transform(PngToWebP)
    app.add_node(nodes.image, override=True, html=(visit_image, depart_image))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
