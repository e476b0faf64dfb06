"""Images by nibabel: `FOLDER` gets files, and what nibabel says of their affines and of which voxels are not zero goes to standard output."""
import json
import sys
from pathlib import Path

import nibabel as nib
import numpy as np

folder = Path(sys.argv[1])
rng = np.random.default_rng(3)
turn = nib.eulerangles.euler2mat(0.4, -0.3, 0.2)
affine = nib.affines.from_matvec(turn @ np.diag([1.5, -2.0, 1.0]), [-40.25, 30.5, -11.0])


def image(cls, dtype, codes, order="<"):
    data = (rng.random((5, 6, 7)) < 0.3).astype(dtype)
    own = cls(data, affine, cls.header_class(endianness=order))
    own.set_sform(affine if codes[1] else None, codes[1])
    own.set_qform(affine if codes[0] else None, codes[0])
    return own


said = {}
cases = {
    "sform.nii": (nib.Nifti1Image, np.uint8, (0, 2)),
    "qform.nii": (nib.Nifti1Image, np.int16, (1, 0)),
    "both.nii.gz": (nib.Nifti1Image, np.float32, (1, 1)),
    "neither.nii": (nib.Nifti1Image, np.uint8, (0, 0)),
    "two.nii.gz": (nib.Nifti2Image, np.float64, (1, 0)),
    "big.nii": (nib.Nifti1Image, np.int32, (1, 1), ">"),
}
for name, case in cases.items():
    nib.save(image(*case), folder / name)
    own = nib.load(folder / name)
    values = np.asarray(own.dataobj).ravel(order="F")
    said[name] = {
        "affine": own.affine.ravel().tolist(),
        "dimensions": list(own.shape),
        "inside": np.flatnonzero(values).tolist(),
        "order": "".join(nib.aff2axcodes(own.affine)),
    }
print(json.dumps(said))
