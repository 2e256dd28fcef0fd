/** What `svc doctor` takes. */
import { DIRECTORY, JSON_OUT, type Page, SERVER } from '../../line/page.js'

export const DOCTOR = {
  name: 'doctor',
  summary: 'check this installation',
  words: [],
  options: {
    dir: { ...DIRECTORY, help: 'check the configuration of this directory' },
    server: { ...SERVER, help: 'check this server too', otherwise: 'the local one, or one for the moment' },
    online: { type: 'flag', help: 'ask each provider that can be used for one word, and look for model servers on this machine' },
    json: { ...JSON_OUT, help: 'print the findings as JSON' },
  },
  examples: [
    ['svc doctor', 'one line for each check'],
    ['svc doctor --online', 'also tries the models, for a few tokens each'],
    ['svc doctor --json > doctor.json', 'for a report'],
  ],
  notes: ['Ends with 1 when something is broken.'],
} as const satisfies Page

export interface DoctorOptions {
  readonly directory: string | undefined
  readonly server: string | undefined
  /** The providers are really asked. */
  readonly online: boolean
  readonly json: boolean
}
