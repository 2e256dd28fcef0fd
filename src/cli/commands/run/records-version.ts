/** Of the records that `svc run --output json` and `--output events` print: another one where a field goes or means something else. */
export const RECORDS = 1
