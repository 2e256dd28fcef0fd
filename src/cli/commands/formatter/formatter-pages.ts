/** What `svc formatter` takes. */
import { programPages } from '../acceptance/program-arguments.js'

export const FORMATTER = programPages({
  name: 'formatter',
  one: 'a formatter',
  summary: 'formatters that are switched on, and whether they may run code of a workspace',
  list: {
    summary: 'which are on, how they stand, and which wait to be accepted; none is started',
    example: ['svc formatter list', 'those of the current directory'],
  },
  accept: {
    summary: 'let one run code of this workspace, with the command it has now',
    example: ['svc formatter accept prettier', 'it runs the settings and plugins of the project, with your rights'],
  },
  revoke: { summary: 'take that back', example: ['svc formatter revoke prettier', 'it does not run here any more'] },
})
