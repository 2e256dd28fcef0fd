#!/bin/sh
# Asks once without anybody there, and ends as the job should: job.sh "<prompt>"
# answer.md holds what was said, run.json the record: status, usage, cost, and what was refused.
svc run --json --output-last-message answer.md "$1" </dev/null >run.json
code=$?
case $code in
  0) echo 'passed' ;;
  3) echo 'failed: it wanted more than it may do, see "refused" in run.json' >&2 ;;
  *) echo "failed with $code, see \"error\" in run.json" >&2 ;;
esac
exit $code
