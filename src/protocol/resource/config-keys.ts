/**
 * What every key of the agent document is for, and its published JSON Schema (`svc config schema`, docs/configuration.md). Types come
 * from `AgentDocument`; a key without a sentence here does not compile.
 */
import * as z from 'zod'
import { AgentConfig, AgentDocument } from './agent-config.js'

type ConfigKey = keyof typeof AgentDocument.shape

/** Who may set a key: files of a workspace as well, files of a workspace only more strictly, or the installation alone (threat-model W3). */
type WhoSets = 'everybody' | 'narrower in a workspace' | 'the installation'

interface KeyPurpose {
  /** What it does where a server does something with it. */
  readonly does: string
  readonly set: WhoSets
}

const by = (set: WhoSets, does: string): KeyPurpose => ({ does, set })

export const CONFIG_KEYS: Readonly<Record<ConfigKey, KeyPurpose>> = {
  $schema: by('everybody', 'names the JSON Schema of the file for editors; nothing else'),
  shell: by(
    'the installation',
    'the shell of new terminals: a program, or `program` and `args`; commands of models run in bash, as which they are judged',
  ),
  model: by('everybody', 'the model of sessions that name none, as `provider/model`'),
  smallModel: by('everybody', 'the model of small tasks such as titles, as `provider/model`'),
  variant: by('everybody', 'the variant of the model that is asked for; `thinking`, `reasoning` and `reasoningEffort` mean the same'),
  textVerbosity: by(
    'everybody',
    'how much a model writes: `low`, `medium` or `high`, where its API can be told (OpenAI, OpenRouter, providers of plugins)',
  ),
  defaultAgent: by('everybody', 'the agent of sessions that name none; one that is neither hidden nor a subagent'),
  agent: by('narrower in a workspace', 'agents by name: prompt, model, permissions, limits; `disable` removes one'),
  command: by('everybody', 'commands by name: a template and what runs it'),
  plugin: by('the installation', 'plugins as a list: ids, or an id with its options'),
  plugins: by('narrower in a workspace', 'plugins by id: switched on or off, with options and approvals'),
  provider: by('narrower in a workspace', 'providers by id: address, models, how they are asked'),
  enabledProviders: by('narrower in a workspace', 'only these providers are used'),
  disabledProviders: by('everybody', 'these providers are not used; workspaces may add some'),
  skills: by('narrower in a workspace', 'further folders in which skills are found (`paths`)'),
  mcp: by('narrower in a workspace', 'servers of the Model Context Protocol by name'),
  lsp: by('narrower in a workspace', 'language servers: on, off, or each by name'),
  formatter: by('narrower in a workspace', 'formatters of what tools have written: `true`, or each by name'),
  permission: by('narrower in a workspace', 'what is allowed, asked about or denied, by group and pattern'),
  dangerouslySkipPermissions: by('narrower in a workspace', 'what would be asked about is allowed; what is denied stays denied'),
  tools: by('narrower in a workspace', 'tools by name, on or off: short for a permission'),
  instructions: by('narrower in a workspace', 'further instruction files for every session; lists of all files are joined'),
  compaction: by('everybody', 'when and how a long conversation is summarised'),
  watcher: by('everybody', 'what the file watcher leaves out'),
  share: by('narrower in a workspace', 'whether sessions are shared'),
  autoshare: by('narrower in a workspace', 'whether new sessions are shared by themselves'),
  autoupdate: by('narrower in a workspace', 'whether the program updates itself'),
  username: by('everybody', 'the name by which the person is shown'),
  experimental: by('narrower in a workspace', 'settings that may change'),
  network: by('the installation', '`localModels`: model servers on this machine are looked for at their usual ports'),
  hosted: by(
    'the installation',
    '`execution`: whether agents work for hosted callers: in the sandbox of commands (`sandbox`, as it is without), uncontained (`native`), or not at all (`off`); `providers`: ids of those whose models they may use',
  ),
  storage: by(
    'the installation',
    'what may lie in the state directory, in days and mebibytes: `eventsDays` (7) and `eventsMiB` (1024) of the event stream, `outputsDays` (7) and `outputsMiB` (1024) of whole outputs of tools, `undoMiB` (2048) of states for undo, `searchMiB` (1024) and `searchDays` of the texts that are searched (their index takes three to four times as much), `artifactsDays` and `artifactsMiB` of uploads (as many and as long as they are wanted); the oldest go first, uploads beyond their bytes are refused',
  ),
  workflows: by(
    'the installation',
    '`acceptance`: which workflow files somebody has to accept before they run: those that came with a checkout (`repository`, as it is without), all (`required`), or none (`files`)',
  ),
}

/**
 * The JSON Schema (draft 2020-12) of a configuration file. `whyNot` answers why nothing is done with a key, as the rest of a
 * sentence; undefined = something is.
 */
export function configSchema(whyNot: (key: string) => string | undefined): Readonly<Record<string, unknown>> {
  const { properties = {}, ...schema } = z.toJSONSchema(AgentDocument, { io: 'input', unrepresentable: 'any' })
  const mode = z.toJSONSchema(z.record(z.string(), AgentConfig), { io: 'input', unrepresentable: 'any' })
  const described = Object.entries(properties).map(([key, property]): [string, unknown] => {
    const purpose = Object.entries(CONFIG_KEYS).find(([name]) => name === key)?.[1]
    const reason = whyNot(key)
    const description = reason === undefined ? purpose?.does : `Without effect: ${reason}.`
    return [key, { ...(typeof property === 'object' ? property : {}), description }]
  })
  return {
    ...schema,
    title: 'Configuration of svc',
    description: 'Further keys are kept and not used. Kebab-case spellings are understood.',
    properties: {
      ...Object.fromEntries(described),
      mode: {
        type: 'object',
        additionalProperties: mode.additionalProperties ?? {},
        deprecated: true,
        description: 'agents of mode primary',
      },
    },
  }
}
