/** Of the records that `--output json` and `--output events` print: another one where a field goes or means something else. */
export const RECORDS = 1
