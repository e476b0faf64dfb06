"""read SNAPSHOT TYPE: what h5py and packingcubes say of a snapshot. cubes SNAPSHOT OUTPUT TYPE: its cubes and sorted particles, in one file."""
import json
import sys

import h5py
import numpy as np
import packingcubes

verb, path, *rest = sys.argv[1:]
if verb == "read":
    data = packingcubes.GadgetishHDF5Dataset(filepath=path, particle_type=rest[0])
    with h5py.File(path) as f:
        group = f[rest[0]]
        said = {
            "header": {k: np.asarray(v).tolist() for k, v in f["Header"].attrs.items()},
            "fields": {k: [str(v.dtype), list(v.shape)] for k, v in sorted(group.items())},
            "attributes": {k: np.asarray(v).tolist() for k, v in group["Coordinates"].attrs.items()},
            "ids": [str(v) for v in group["ParticleIDs"][:]],
        }
    print(json.dumps({**said, "packingcubes": len(data.positions)}))
else:
    output, particle_type = rest
    data = packingcubes.GadgetishHDF5Dataset(filepath=path, particle_type=particle_type)
    cubes = packingcubes.make_cubes(dataset=data, cubes_per_side=3, particle_threshold=20, particle_type=particle_type)
    cubes.save(output, particle_type=particle_type)
    data.save(output_file=output, force_overwrite=True)
    found = cubes.get_particle_index_list_in_sphere(center=[50, 50, 50], radius=20, data=data, strict=True, use_data_indices=False)
    print(json.dumps({"sphere": sorted(int(i) for i in found)}))
