#!/usr/bin/env bash
# examples/slurm/pack.sh WORKERS [SBATCH_OPTION...] -- PLAN [OPTION...] FOLDER OUT.rec
#
# Packs a set with a Slurm array of WORKERS elements (64, or 64%8 for 8 at a time): reads the folder here, submits
# the array and a job that makes the set after it, waits for that job, and shows what it says. The exit status is that
# of im2rec: 3 if images were skipped. Ctrl-C and kill end the wait and not the jobs. Whatever was killed: the same
# command continues.
set -euo pipefail
usage() {
    sed -n '2s/^# /usage: /p' "$0" >&2
    exit 2
}
workers=${1:-}
[[ $workers =~ ^[1-9][0-9]*(%[1-9][0-9]*)?$ ]] || usage
shift
options=(--requeue)
while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
done
[ $# -gt 3 ] || usage
plan=$2
shift 2

im2rec --plan "$plan" "$@"
word="'${plan//\'/\'\\\'\'}'" # for the shell of a job
array=$(sbatch --parsable --job-name="im2rec --work $plan" --array="1-$workers" "${options[@]}" \
    --wrap "exec im2rec --work $word --threads \$SLURM_CPUS_ON_NODE")
array=${array%%;*}
echo "array job $array packs; Ctrl-C ends this command and not the jobs" >&2
# afterany: an element that was killed has left its task to the others. singleton: after the jobs of a command that
# was given before.
status=0
job=$(sbatch --wait --job-name="im2rec --finish $plan" --dependency="afterany:$array,singleton" "${options[@]}" \
    --wrap "exec im2rec --finish $word" | tee /dev/stderr) || status=$?
if [[ $job =~ [0-9]+ ]]; then
    said=$(scontrol show job "${BASH_REMATCH[0]}" | sed -n 's/^ *StdOut=//p')
    [ ! -r "$said" ] || cat "$said"
fi
exit $status
