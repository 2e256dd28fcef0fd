/** Tool calls as an editor is told of them. Pure. */
import { resolve } from 'node:path'
import type { ToolCall, ToolCallContent, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk'
import { cut } from '../../../kernel/cut.js'
import { isRecord } from '../../../protocol/text/json.js'
import type { ToolPart } from '../../../protocol/message/message.js'

/** Of built-in tools; every other one is `other`. */
const KINDS: Readonly<Record<string, ToolKind>> = {
  read: 'read',
  artifact_read: 'read',
  edit: 'edit',
  write: 'edit',
  apply_patch: 'edit',
  grep: 'search',
  glob: 'search',
  websearch: 'search',
  session_search: 'search',
  artifact_search: 'search',
  bash: 'execute',
  background_task: 'execute',
  execute: 'execute',
  webfetch: 'fetch',
  task: 'think',
  todowrite: 'think',
  plan_enter: 'switch_mode',
  plan_exit: 'switch_mode',
}
const STATUS = { pending: 'pending', running: 'in_progress', completed: 'completed', error: 'failed' } as const
/** Inputs that say what a call is about. */
const NAMING = ['filePath', 'command', 'pattern', 'url', 'description']
/** Characters of an output that an editor is shown; all of it is kept by the server. */
export const SHOWN = 64 * 1024
/** Of the end of an output while its command runs. */
const SHOWN_RUNNING = 4 * 1024

export function kindOf(tool: string): ToolKind {
  return Object.hasOwn(KINDS, tool) ? (KINDS[tool] ?? 'other') : 'other'
}

/** The first that is told of a call. */
export function toolCall(part: ToolPart, cwd: string): ToolCall {
  return updateOf(part, cwd)
}

export function toolCallUpdate(part: ToolPart, cwd: string): ToolCallUpdate {
  return updateOf(part, cwd)
}

function updateOf({ tool, callId, ...part }: ToolPart, cwd: string) {
  const { state } = part
  const input: unknown = state.input
  const content = [...diffsOf(tool, input, cwd), ...outputOf(part)]
  const locations = pathsOf(input).map((path) => ({ path: resolve(cwd, path) }))
  return {
    toolCallId: callId,
    title: titleOf({ tool, state }),
    kind: kindOf(tool),
    status: STATUS[state.status],
    rawInput: input,
    ...(content.length > 0 && { content }),
    ...(locations.length > 0 && { locations }),
    ...(state.status === 'completed' && { rawOutput: { output: cut(state.output, SHOWN) } }),
    ...(state.status === 'error' && { rawOutput: { error: state.error } }),
  }
}

function titleOf({ tool, state }: Pick<ToolPart, 'tool' | 'state'>): string {
  const title: unknown = 'title' in state ? state.title : undefined
  if (typeof title === 'string' && title !== '') return title
  const input: unknown = state.input
  const what = isRecord(input) ? NAMING.map((name) => input[name]).find((value) => typeof value === 'string' && value !== '') : undefined
  return typeof what === 'string' ? `${tool} ${cut(what, 120)}` : tool
}

function outputOf({ state, metadata }: Pick<ToolPart, 'state' | 'metadata'>): ToolCallContent[] {
  const running = state.status === 'running' && isRecord(metadata) && typeof metadata['output'] === 'string' ? metadata['output'] : ''
  const text = state.status === 'completed' ? state.output : state.status === 'error' ? state.error : endOf(running, SHOWN_RUNNING)
  return text === '' ? [] : [{ type: 'content', content: { type: 'text', text: cut(text, SHOWN) } }]
}

function endOf(text: string, most: number): string {
  return text.slice(-most).replace(/^[\udc00-\udfff]/, '')
}

/** What an edit replaces, as it was asked for. */
function diffsOf(tool: string, input: unknown, cwd: string): ToolCallContent[] {
  if (!isRecord(input) || typeof input['filePath'] !== 'string') return []
  const { filePath, oldString, newString, content } = input
  const path = resolve(cwd, filePath)
  if (tool === 'edit' && typeof oldString === 'string' && typeof newString === 'string')
    return [{ type: 'diff', path, oldText: oldString, newText: newString }]
  if (tool === 'write' && typeof content === 'string') return [{ type: 'diff', path, newText: content }]
  return []
}

export function pathsOf(input: unknown): string[] {
  const path = isRecord(input) ? input['filePath'] : undefined
  return typeof path === 'string' ? [path] : []
}
