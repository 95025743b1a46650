"""A Slurm of one node, this machine: munged, slurmctld and slurmd with everything they have (keys,
sockets, state, free ports) in a temporary folder. Root only, as slurmd is. The daemons end with the
process that started them, however it ends."""
import ctypes
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAMS = ("munged", "slurmctld", "slurmd", "srun")
PR_SET_PDEATHSIG = 1
UP_WITHIN_S = 30

def program(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")

def why_not():
    """Reason why there can be no cluster here; empty: there can."""
    missing = [name for name in PROGRAMS if program(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (scripts/install-deps --bench)"
    return "" if os.geteuid() == 0 else "slurmd runs as root only"

def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports

def die_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

class Cluster:
    """with Cluster(cpus=32) as cluster: subprocess.run(["srun", ...], env=cluster.environment())"""

    def __init__(self, cpus):
        self.cpus = cpus
        self.daemons = []

    def __enter__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="fairlead-slurm-"))
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(5)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def daemon(self, *command):
        with open(self.folder / "daemons.log", "ab") as log:
            self.daemons.append(subprocess.Popen(
                [program(command[0]), *map(str, command[1:])], stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, preexec_fn=die_with_parent, env=self.environment()))

    def settings(self):
        """What srun's environment needs."""
        return {"SLURM_CONF": str(self.folder / "slurm.conf")}

    def environment(self):
        return {**os.environ, **self.settings()}

    def start(self):
        here = self.folder
        (here / "key").write_bytes(os.urandom(128))
        (here / "key").chmod(0o400)
        for name in ("state", "spool"):
            (here / name).mkdir()
        host = socket.gethostname()
        control_port, node_port = free_ports(2)
        # config_overrides: as many processors as the tests have ranks, whatever the machine has.
        (here / "slurm.conf").write_text(f"""
ClusterName=fairlead
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={control_port}
SlurmdPort={node_port}
AuthType=auth/munge
AuthInfo=socket={here}/munge.socket
CredType=cred/munge
StateSaveLocation={here}/state
SlurmdSpoolDir={here}/spool
SlurmctldPidFile={here}/slurmctld.pid
SlurmdPidFile={here}/slurmd.pid
SlurmctldLogFile={here}/slurmctld.log
SlurmdLogFile={here}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SchedulerType=sched/builtin
SelectType=select/cons_tres
SwitchType=switch/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
SlurmdParameters=config_overrides
KillWait=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={self.cpus} State=UNKNOWN
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
""")
        self.daemon("munged", "--foreground", "--force", f"--key-file={here}/key",
                    f"--socket={here}/munge.socket", f"--pid-file={here}/munged.pid",
                    f"--log-file={here}/munged.log", f"--seed-file={here}/munge.seed")
        self.wait_for(lambda: (here / "munge.socket").exists(), "munged")
        self.daemon("slurmctld", "-D", "-f", here / "slurm.conf")
        self.daemon("slurmd", "-D", "-f", here / "slurm.conf", "-N", host)
        self.wait_for(self.node_is_idle, "the node")

    def node_is_idle(self):
        done = subprocess.run(["sinfo", "-h", "-o", "%t"], env=self.environment(), text=True,
                              capture_output=True, timeout=20, check=False)
        return done.stdout.strip() == "idle"

    def wait_for(self, condition, what):
        end = time.monotonic() + UP_WITHIN_S
        while not condition():
            ended = [daemon.args[0] for daemon in self.daemons if daemon.poll() is not None]
            if ended or time.monotonic() > end:
                raise RuntimeError(f"{what} did not come up; ended: {ended}\n{self.logs()}")
            time.sleep(0.05)

    def logs(self):
        return "\n".join(f"{path.name}:\n{path.read_text(errors='replace')[-2000:]}"
                         for path in sorted(self.folder.glob("*.log")))
