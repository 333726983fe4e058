"""Files of a result: parameter file, report, URDF, PRG, signals."""
