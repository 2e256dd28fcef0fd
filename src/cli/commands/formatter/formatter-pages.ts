/** What `svc formatter` takes. */
import { DIRECTORY, type Group, JSON_OUT, SERVER } from '../../line/page.js'

const PLACE = {
  dir: { ...DIRECTORY, help: 'of this workspace' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const
const WORDS = [{ name: 'id', needs: 'the id of a formatter' }] as const

export const FORMATTER = {
  name: 'formatter',
  alias: 'formatter',
  summary: 'formatters that are switched on, and whether they may run code of a workspace',
  pages: [
    {
      name: 'formatter list',
      summary: 'which are on, how they stand, and which wait to be accepted; none is started',
      words: [],
      options: PLACE,
      examples: [['svc formatter list', 'those of the current directory']],
    },
    {
      name: 'formatter accept',
      summary: 'let one run code of this workspace, with the command it has now',
      words: WORDS,
      options: PLACE,
      examples: [['svc formatter accept prettier', 'it runs the settings and plugins of the project, with your rights']],
    },
    {
      name: 'formatter revoke',
      summary: 'take that back',
      words: WORDS,
      options: PLACE,
      examples: [['svc formatter revoke prettier', 'it does not run here any more']],
    },
  ],
} as const satisfies Group
