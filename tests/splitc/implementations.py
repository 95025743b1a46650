"""Names of --splitc beside the default one, and where programs run with them."""
IMPLEMENTATIONS = ("amvia", "amvia-shm", "via", "via-unreliable")
OTHER_PLACES = [(["shm"], 3), (["udp"], 3), (["udp", "--faults", "drop=0.01"], 2), (["loop"], 5),
                (["myrinet-p3"], 5), (["myrinet-p3", "--ranks-per-node", "2"], 4),
                (["generic-hca"], 4)]
