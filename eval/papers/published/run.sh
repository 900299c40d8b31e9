#!/bin/sh
# In the folder of the published simulator, which is built: sh DIR/run.sh. What has a result is left alone.
networks=$(cd "$(dirname "$0")" && pwd)
if ! output=$(./waf build 2>&1); then
  echo "./waf does not work in $(pwd): $(echo "$output" | tail -n 1)" >&2
  exit 2
fi
failures=0
for config in "$networks"/*/*.config.txt; do
  run="${config%.config.txt}"
  [ -e "$run.fct.txt" ] && continue
  echo "$config"
  ./waf --run "scratch/third $config" > "$run.log" 2>&1 &&
    mv "$run.fct.txt.part" "$run.fct.txt" 2>> "$run.log" && continue
  failures=$((failures + 1))
  echo "failed: $config; $run.log ends with:" >&2
  tail -n 5 "$run.log" >&2
done
[ "$failures" -eq 0 ] && exit
echo "failed runs: $failures" >&2
exit 1
