/** What `svc lsp` takes. */
import { programPages } from '../acceptance/program-arguments.js'

export const LSP = programPages({
  name: 'lsp',
  one: 'a language server',
  summary: 'language servers that fit a workspace, and whether they may load code of it',
  list: {
    summary: 'which fit, how they are, and which wait to be accepted; none is started',
    example: ['svc lsp list', 'those of the current directory'],
  },
  accept: {
    summary: 'let one start in this workspace, with the command it has now',
    example: ['svc lsp accept typescript', 'it loads code of the workspace, with your rights'],
  },
  revoke: { summary: 'take that back, and end it', example: ['svc lsp revoke typescript', 'it does not start any more'] },
})
