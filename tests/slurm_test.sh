#!/usr/bin/env bash
# deploy/slurm/lt-audit.sbatch on the real slurmctld and slurmd: an array of three tasks, then the job that merges them.
# Usage: tests/slurm_test.sh LT_AUDIT      as root; needs Debian's slurm-wlm and munge; leaves no process and no file
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
program=$(realpath "$1")
for tool in munged slurmctld slurmd sbatch squeue; do
  PATH=$PATH:/usr/sbin
  command -v "$tool" >/dev/null || { echo "slurm_test: $tool is missing: scripts/install_packages.sh test" >&2; exit 1; }
done
[[ $(id -u) -eq 0 ]] || { echo "slurm_test: slurmd starts jobs as root only; run the test as root" >&2; exit 1; }

work=$(mktemp -d /tmp/lt-audit-slurm-XXXXXX)
munged_pid="" slurmctld_pid="" slurmd_pid=""

# Ends only what was started here, and waits for it: first the controller, so that it starts no job any more.
stop() {
  local code=$? pid
  trap - EXIT
  if [[ $code -ne 0 ]]; then
    echo "slurm_test: failed with code $code; the ends of the logs:"
    timeout 5 squeue --format="%i %T %r" 2>/dev/null || true
    tail -n 15 "$work"/*.log 2>/dev/null || true
  fi
  for pid in $slurmctld_pid $slurmd_pid $munged_pid; do
    kill "$pid" 2>/dev/null || continue
    for _ in {1..50}; do
      kill -0 "$pid" 2>/dev/null || break
      sleep 0.1
    done
    kill -9 "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  rm -rf "$work"
  exit "$code"
}
trap stop EXIT
trap 'exit 143' TERM INT HUP

# within SECONDS COMMAND...: tries until it succeeds.
within() {
  local end=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [[ $SECONDS -lt $end ]] || { echo "slurm_test: gave up on: $*" >&2; return 1; }
    sleep 0.2
  done
}

# Two that nobody listens on now.
read -r controller_port daemon_port < <(python3 - <<'PYTHON'
import socket
sockets = [socket.socket() for _ in range(2)]
for one in sockets:
    one.bind(("127.0.0.1", 0))
print(*(one.getsockname()[1] for one in sockets))
PYTHON
)

# munge refuses directories that others may write to, and /tmp is one; --force takes it as a warning.
mkdir -m 755 "$work/munge" "$work/state" "$work/spool" "$work/run"
chmod 755 "$work"
head -c 1024 /dev/urandom >"$work/munge/key"
chmod 400 "$work/munge/key"
munged --foreground --force --key-file="$work/munge/key" --socket="$work/munge/socket" --pid-file="$work/munge/pid" \
  --seed-file="$work/munge/seed" --log-file="$work/munged.log" --num-threads=1 >"$work/munged.out.log" 2>&1 &
munged_pid=$!
within 10 test -S "$work/munge/socket"

cat >"$work/slurm.conf" <<CONF
ClusterName=lt-audit
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort=$controller_port
SlurmdPort=$daemon_port
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge/socket
CryptoType=crypto/munge
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/run/slurmctld.pid
SlurmdPidFile=$work/run/slurmd.pid
# No systemd, no cgroup: processes are found through /proc, and nothing is confined.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1
MpiDefault=none
SwitchType=switch/none
ReturnToService=2
MailProg=/bin/true
KillWait=5
MinJobAge=300
PropagateResourceLimits=NONE
NodeName=localhost NodeAddr=127.0.0.1 CPUs=2 RealMemory=512 State=UNKNOWN
PartitionName=test Nodes=localhost Default=YES MaxTime=60 State=UP
CONF
# Nothing here uses cgroups, but slurmd 22.05 loads a plugin for them all the same, and that of v1 asks for nothing when loaded.
echo "CgroupPlugin=cgroup/v1" >"$work/cgroup.conf"
export SLURM_CONF=$work/slurm.conf

slurmctld -D -c -f "$SLURM_CONF" >"$work/slurmctld.log" 2>&1 &
slurmctld_pid=$!
slurmd -D -N localhost -f "$SLURM_CONF" >"$work/slurmd.log" 2>&1 &
slurmd_pid=$!
idle() { [[ $(sinfo --noheader --format=%T) == idle ]]; }
within 30 idle

# The lines of the file's own comment, with the simulator for a GPU.
cd "$work"
export LT_AUDIT=$program LT_AUDIT_OUT=$work/reports LT_AUDIT_ARGS="alignment compute-type --target simulator --depth quick"
job=$(sbatch --parsable --gres=none --array=0-2 "$root/deploy/slurm/lt-audit.sbatch")
merge=$(sbatch --parsable --gres=none --dependency=afterany:"$job" --export=ALL,LT_AUDIT_STEP=merge \
  --output="$work/merge.log" "$root/deploy/slurm/lt-audit.sbatch")
# Not %i of sacct: there is no accounting. A job that is over stands in the controller's list for MinJobAge.
over() { scontrol --oneliner show job "$1" | grep -qE 'JobState=(COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL)'; }
within 120 over "$merge"

cat "$work/merge.log"
expect() {
  local text=$1
  shift
  "$@" >"$work/output" 2>&1 || { echo "slurm_test: FAILED: $text"; cat "$work/output"; exit 1; }
}
for task in 0 1 2; do expect "task $task wrote its report" test -s "$work/reports/lt-audit.$task.json"; done
expect "the tasks ended well" bash -c "! scontrol --oneliner show job $job | grep -v 'ExitCode=0:0'"
expect "the merge says that it is the simulator" grep -q '^!!  SIMULATOR' "$work/merge.log"
expect "the merge has three nodes that agree" grep -q '^3 nodes: 3 agree, 0 differ; .* exit 0$' "$work/merge.log"
expect "the merge ended well" bash -c "scontrol --oneliner show job $merge | grep -q 'ExitCode=0:0'"
expect "the merge is valid" python3 "$root/scripts/validate_report.py" "$work/reports/merge.json"
expect "the merge names three tasks" python3 - "$work/reports/merge.json" <<'PYTHON'
import json, sys
merged = json.load(open(sys.argv[1]))
files = sorted(node["file"].rsplit("/", 1)[1] for node in merged["nodes"])
assert files == [f"lt-audit.{task}.json" for task in range(3)], files
assert len({node["name"] for node in merged["nodes"]}) == 3
assert merged["results"]["compared_cases"] > 100 and not merged["results"]["differing"]
PYTHON
expect "the Markdown is there" grep -q '^### lt-audit merge: 3 nodes' "$work/reports/merge.md"
echo "slurm_test: passed in $SECONDS s"
