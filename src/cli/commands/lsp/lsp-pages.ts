/** What `svc lsp` takes. */
import { DIRECTORY, type Group, JSON_OUT, SERVER } from '../../line/page.js'

const PLACE = {
  dir: { ...DIRECTORY, help: 'of this workspace' },
  server: { ...SERVER, otherwise: 'the local one, or one for the moment' },
  json: JSON_OUT,
} as const
const WORDS = [{ name: 'id', needs: 'the id of a language server' }] as const

export const LSP = {
  name: 'lsp',
  alias: 'lsp',
  summary: 'language servers that fit a workspace, and whether they may load code of it',
  pages: [
    {
      name: 'lsp list',
      summary: 'which fit, how they are, and which wait to be accepted; none is started',
      words: [],
      options: PLACE,
      examples: [['svc lsp list', 'those of the current directory']],
    },
    {
      name: 'lsp accept',
      summary: 'let one start in this workspace, with the command it has now',
      words: WORDS,
      options: PLACE,
      examples: [['svc lsp accept typescript', 'it loads code of the workspace, with your rights']],
    },
    {
      name: 'lsp revoke',
      summary: 'take that back, and end it',
      words: WORDS,
      options: PLACE,
      examples: [['svc lsp revoke typescript', 'it does not start any more']],
    },
  ],
} as const satisfies Group
