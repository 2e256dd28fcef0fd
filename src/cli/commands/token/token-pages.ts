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

const most = (help: string) => ({ type: 'number', value: 'number', least: 0, most: 999_999_999_999, help, otherwise: 'no bound' }) as const

/** What bounds the tenant of a token, by the fields of the file. */
const QUOTAS = {
  'requests-per-minute': most('requests in a minute'),
  'max-in-flight': most('requests that are answered at a time; streams count while they are open'),
  'max-sessions': most('sessions, archived ones and children too'),
  'max-artifacts': most('artifacts'),
  'max-artifact-bytes': most('bytes of all artifacts together'),
  'artifact-retention-days': most('days after which an artifact is gone'),
  'model-tokens-per-day': most('tokens that models read and write in a day (UTC)'),
  'model-cost-per-day': {
    type: 'text',
    value: 'dollars',
    help: 'what models may cost in a day (UTC), where prices are known',
    otherwise: 'no bound',
  },
} as const

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
        ...QUOTAS,
        ...COMMON,
      },
      examples: [
        ['svc token create acme --directory /srv/acme --file /etc/svc/tokens.json', 'a token of acme, for /srv/acme'],
        ['svc token create acme --directory /srv/acme --max-in-flight 20 --model-cost-per-day 5', 'the same, bounded'],
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
