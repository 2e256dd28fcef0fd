/** What `svc upgrade` takes. */
import { JSON_OUT, type Page } from '../../line/page.js'

export const UPGRADE = {
  name: 'upgrade',
  summary: 'say how svc was installed and what to type for a newer one',
  words: [],
  options: { json: JSON_OUT },
  examples: [['svc upgrade', 'prints what to type, and runs nothing']],
  notes: [
    'Nothing is fetched and nothing is run. The first start of a newer svc keeps a copy of the database as it was (before-schema-N.sqlite3 in the state directory) before it changes how it is laid out; an older svc refuses the changed one.',
  ],
} as const satisfies Page

export interface UpgradeOptions {
  readonly json: boolean
}
