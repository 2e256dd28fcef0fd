/** The agents that exist without being configured (subsystems b.7; sessions-events §8.5). */
import type { AgentConfig, PermissionConfig } from '../../../protocol/resource/agent-config.js'
import * as prompts from './agent-prompts.js'

export interface NativeAgent extends AgentConfig {
  readonly mode: 'primary' | 'subagent'
  readonly permission: PermissionConfig
}

/** Canonical places the rules of built-in agents name. */
export interface Places {
  readonly home: string
  /** Every spelling of the system's directory for temporary files. */
  readonly temporary: readonly string[]
  readonly state: string
}

export const DEFAULT_AGENT = 'build'

/** Built-in agents by key. */
export function nativeAgents(places: Places): Readonly<Record<string, NativeAgent>> {
  const readable = [...places.temporary.map((path) => `${path}/*`), `${places.state}/tool-output/*`]
  const outside = { git: 'ask', external_directory: { '*': 'ask', ...Object.fromEntries(readable.map((pattern) => [pattern, 'allow'])) } }
  const reading = { read: { '*': 'allow', '*.env': 'ask', '*.env.*': 'ask', '*.env.example': 'allow' } }
  /** Of commands in the sandbox. */
  const network = { network: 'ask' }
  const build = {
    '*': 'allow',
    doom_loop: 'ask',
    ...network,
    question: 'allow',
    plan_enter: 'allow',
    plan_exit: 'deny',
    external_agent: 'ask',
    ...reading,
    ...outside,
  }
  const plans = { '*': 'ask', '.svc/plans/*.md': 'allow', [`${places.state}/plans/*.md`]: 'allow' }
  return {
    [DEFAULT_AGENT]: {
      mode: 'primary',
      color: 'primary',
      description: 'Reads, changes and runs the code of the project. The default.',
      prompt: prompts.BUILD_PROMPT,
      permission: build,
    },
    plan: {
      mode: 'primary',
      color: 'secondary',
      description: 'Studies the project and writes a plan; asks before it would change a file.',
      prompt: prompts.PLAN_PROMPT,
      permission: { ...build, edit: plans, write: 'deny', plan_enter: 'deny', plan_exit: 'allow' },
    },
    general: {
      mode: 'subagent',
      color: 'accent',
      description: 'Carries out a delegated task of several steps, such as research or a contained change, and reports back.',
      prompt: prompts.GENERAL_PROMPT,
      permission: { '*': 'allow', doom_loop: 'ask', ...network, todowrite: 'deny', ...reading, ...outside },
    },
    explore: {
      mode: 'subagent',
      color: 'info',
      description: 'Answers questions about the code base by searching and reading, without changing anything.',
      prompt: prompts.EXPLORE_PROMPT,
      permission: {
        '*': 'deny',
        bash: 'allow',
        glob: 'allow',
        grep: 'allow',
        read: 'allow',
        webfetch: 'allow',
        websearch: 'allow',
        ...outside,
      },
    },
    compaction: hidden(prompts.COMPACTION_PROMPT),
    title: { ...hidden(prompts.TITLE_PROMPT), temperature: 0.5 },
    summary: hidden(prompts.SUMMARY_PROMPT),
  }
}

function hidden(prompt: string): NativeAgent {
  return { mode: 'primary', hidden: true, prompt, permission: { '*': 'deny' } }
}
