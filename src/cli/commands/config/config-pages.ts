/** What `svc config` takes. */
import { DIRECTORY, type Group, JSON_OUT } from '../../line/page.js'

const COMMON = { dir: { ...DIRECTORY, help: 'workspace' }, json: JSON_OUT } as const
const KEY = { name: 'key' } as const

export const CONFIG = {
  name: 'config',
  summary: 'look at the configuration, check it and change it',
  pages: [
    {
      name: 'config get',
      summary: 'what all files amount to, or one key of it',
      words: [KEY],
      options: COMMON,
      examples: [['svc config get agent.build.model', 'one value']],
    },
    {
      name: 'config set',
      summary: 'write one key that svc knows, and say into which file; null removes it',
      words: [
        { ...KEY, needs: 'a key, such as model or compaction.auto' },
        { name: 'value', needs: 'a value: JSON, or text' },
      ],
      options: {
        global: { type: 'flag', help: 'for every workspace, in your own configuration' },
        force: { type: 'flag', help: 'also a key that svc does not know' },
        ...COMMON,
      },
      examples: [
        ['svc config set --global model svc/offline', 'for every workspace'],
        ['svc config set compaction.auto false', 'here'],
        [`svc config set 'provider.mine.models."a-1.5".name' A`, 'a step with dots of its own'],
      ],
    },
    {
      name: 'config path',
      summary: 'the files that count, the last word last, and the one that is written',
      words: [],
      options: COMMON,
      examples: [['svc config path', 'of the current directory']],
    },
    {
      name: 'config validate',
      summary: 'every mistake, and every key that does nothing',
      words: [],
      options: COMMON,
      examples: [['svc config validate', 'ends with 1 when something is wrong']],
    },
    {
      name: 'config schema',
      summary: 'the JSON Schema of a configuration file',
      words: [],
      options: { json: { ...JSON_OUT, help: 'it is JSON anyway' } },
      examples: [['svc config schema > svc.schema.json', 'then "$schema": "./svc.schema.json" in svc.json']],
    },
  ],
} as const satisfies Group
