/** What `svc token` takes. */
import { type Group, JSON_OUT } from '../../line/page.js'

const FILE = {
  type: 'text',
  value: 'file',
  help: 'the token file',
  otherwise: 'what SVC_AGENT_AUTH_CONFIG names',
  completes: 'file',
} as const
const COMMON = { file: FILE, json: JSON_OUT } as const

export const TOKEN = {
  name: 'token',
  summary: 'who may use a server for several tenants: the tokens of its token file',
  pages: [
    {
      name: 'token create',
      summary: 'add a token of a tenant and print it, once; the file is made where there is none',
      words: [{ name: 'tenant', needs: 'the name of a tenant' }],
      options: {
        directory: {
          type: 'text',
          value: 'directory',
          multiple: true,
          completes: 'directory',
          help: 'let it use this directory and what is below; may be repeated',
          otherwise: 'none',
        },
        ...COMMON,
      },
      examples: [
        ['svc token create acme --directory /srv/acme --file /etc/svc/tokens.json', 'a token of acme, for /srv/acme'],
        ['SVC_AGENT_AUTH_CONFIG=/etc/svc/tokens.json svc serve', 'a server that takes the tokens of the file'],
      ],
    },
    {
      name: 'token list',
      summary: 'the tokens of the file by their ids, tenants and directories; never the tokens themselves',
      words: [],
      options: COMMON,
      examples: [['svc token list', 'who is let in, and where']],
    },
    {
      name: 'token revoke',
      summary: 'take a token out of the file; a running server notices within seconds, and ends its streams',
      words: [{ name: 'id', needs: 'the id of a token: svc token list' }],
      options: COMMON,
      examples: [['svc token revoke 4f1c09a2b7de', 'the token of that id is refused from then on']],
    },
  ],
  notes: ['A token is told once, when it is made. The file holds it as it is: only its owner may read the file (mode 0600).'],
} as const satisfies Group
