/** What `svc usage` takes. */
import { JSON_OUT, type Page } from '../../line/page.js'

export const USAGE = {
  name: 'usage',
  summary: 'tokens and cost by day, model and project; with --disk, what is kept and how big it is',
  words: [],
  options: {
    by: {
      type: 'text',
      value: 'what',
      choices: ['day', 'model', 'project'],
      help: 'one line for each day, model or project',
      otherwise: 'all three',
    },
    days: { type: 'number', value: 'number', least: 1, most: 36_500, help: 'of so many days, today included', otherwise: '30' },
    disk: { type: 'flag', help: 'what lies in the state directory and the cache instead, its bounds, and the room on the disk' },
    json: { ...JSON_OUT, help: 'print a record for each day, model and project as JSON' },
  },
  examples: [
    ['svc usage', 'the last thirty days'],
    ['svc usage --by model --days 1', 'what was used today, by model'],
    ['svc usage --disk', 'changes nothing; svc cleanup says what would go'],
  ],
  notes: [
    'Counted are the conversations that are kept: what was deleted is not, what was undone is. Titles are not counted. Cost is by the prices that are known of a model; a model without prices costs nothing here.',
  ],
} as const satisfies Page

export interface UsageOptions {
  /** undefined = by each of them. */
  readonly by: 'day' | 'model' | 'project' | undefined
  readonly days: number
  readonly disk: boolean
  readonly json: boolean
}
