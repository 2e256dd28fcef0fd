/** What `svc auth` takes. */
import { type Group, JSON_OUT, SERVER, type Word } from '../../line/page.js'

const PROVIDER = { name: 'provider', needs: 'the id of a provider', completes: 'provider' } as const satisfies Word
const COMMON = { server: { ...SERVER, otherwise: 'the local one, or one for the moment' }, json: JSON_OUT } as const
const LABEL = { type: 'text', value: 'text', help: 'store it as another connection of this name' } as const

export const AUTH = {
  name: 'auth',
  summary: 'sign in at providers of models, and store keys for them',
  pages: [
    {
      name: 'auth list',
      summary: 'stored keys and sign-ins, and keys in the environment; never the keys themselves',
      words: [],
      options: COMMON,
      examples: [['svc auth list', 'what calls are made with, and what is the default']],
    },
    {
      name: 'auth login',
      summary: 'sign in at a provider, in a browser, with a pasted code or on another device',
      words: [PROVIDER],
      options: {
        method: {
          type: 'text',
          value: 'way',
          choices: ['browser', 'code', 'device'],
          help: 'sign in this way',
          otherwise: 'the best there is',
        },
        label: LABEL,
        input: {
          type: 'text',
          value: 'name=value',
          multiple: true,
          help: 'answer what the provider asks before; give more than one',
          otherwise: 'it is asked at the terminal',
        },
        print: { type: 'flag', help: 'only print the address; open no browser' },
        ...COMMON,
      },
      examples: [
        ['svc auth login openai', 'opens the page of the provider and waits for its answer'],
        ['svc auth login homemade --input team=core', 'answers what the provider of a plugin asks before, for scripts'],
        ['svc auth login github-copilot --method device', 'shows a code to type in on another device'],
      ],
    },
    {
      name: 'auth set',
      summary: 'store a key; it is asked for without showing it, or read from standard input',
      words: [PROVIDER],
      options: { label: LABEL, ...COMMON },
      examples: [
        ['svc auth set anthropic', 'asks for the key, once'],
        ['pass show anthropic | svc auth set anthropic', 'takes it from a password store'],
      ],
    },
    {
      name: 'auth remove',
      summary: 'forget a key or a sign-in: the default one, or the one that is named',
      words: [PROVIDER],
      options: { connection: { type: 'text', value: 'name', help: 'its id or its label' }, ...COMMON },
      examples: [['svc auth remove openai --connection Work', 'that one; the others stay']],
    },
  ],
  notes: [
    'A key is never an argument: arguments can be seen by other programs and stay in the history of the shell. A secret that a provider asks for is none either: without a terminal it is what standard input says.',
  ],
} as const satisfies Group
