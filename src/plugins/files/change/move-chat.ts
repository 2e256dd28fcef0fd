/** Tool `move_chat`: the conversation goes on in another directory once its run has ended (sessions-events §2.16, §10.4). */
import * as z from 'zod'
import type { NativeHost, ToolContribution } from '../../../ports/plugin.js'
import { defineTool, ToolError } from '../../../ports/plugin.js'
import { fileFailure } from '../places/failures.js'
import type { Target, Targets } from '../places/targets.js'

const MoveInput = z.strictObject({
  directory: z.string().min(1).max(4096).describe('Where to go on: absolute, or relative to the session directory.'),
  create_directory: z.boolean().optional().describe('Make the directory when it is missing. Default true.'),
  switch_workspace: z.boolean().optional().describe('Whether the application that shows the conversation follows it there. Default true.'),
})

const DESCRIPTION = `Moves this conversation to another directory, which later prompts work in.
- Use it only when the user asks for it.
- It happens when your answer ends: until then all paths and commands are those of the present directory, so make it the last thing you do.`

type Host = Pick<NativeHost, 'sessions'> & { readonly effects: Pick<NativeHost['effects'], 'files'> }

export function moveChatTool({ effects: { files }, sessions }: Host, targets: Targets): ToolContribution {
  return defineTool<z.infer<typeof MoveInput>>({
    id: 'move_chat',
    description: DESCRIPTION,
    input: MoveInput,
    permission: 'move_chat',
    async needs({ directory, create_directory: mayCreate = true }, context) {
      const needs = await targets.judge(directory, context, { permission: 'move_chat', verb: 'Move the conversation to', changes: true })
      const path = String(needs.at(-1)?.metadata?.['path'])
      if (!mayCreate || (await files.stat(path).catch(() => undefined)) !== undefined) return needs
      const made = await targets.judge(directory, context, { permission: 'edit', verb: 'Make', changes: true })
      return [...needs, ...made.filter(({ permission }) => permission === 'edit')]
    },
    async invoke({ directory, create_directory: mayCreate = true, switch_workspace: switchWorkspace = true }, context) {
      const target = await targets.confirm(directory, context)
      const { sessionId, signal } = context
      if (sessions.get(sessionId)?.['delegation'] !== undefined)
        throw new ToolError('A task works in the directory it was given; it cannot move.')
      signal.throwIfAborted()
      const isNew = await ready(target, mayCreate)
      await sessions.move(sessionId, { directory: target.path, switchWorkspace }, signal)
      const isThere = target.path === context.directory
      return {
        title: target.path,
        output: isThere
          ? `The conversation works in ${target.path} already, and stays there.`
          : `${isNew ? `Made ${target.path}. ` : ''}The conversation moves to ${target.path} when this answer ends. Until then everything is as before.`,
        metadata: { directory: target.path, previousDirectory: context.directory, created: isNew, switchWorkspace },
      }
    },
  })

  /** The directory is there; whether it was made. */
  async function ready({ path, display }: Target, mayCreate: boolean): Promise<boolean> {
    try {
      const found = await files.stat(path)
      if (found !== undefined && found.kind !== 'directory') throw new ToolError(`${display} is not a directory.`)
      if (found !== undefined) return false
      if (!mayCreate) throw new ToolError(`There is no directory ${display}.`)
      await files.makeDirectory(path)
      if ((await files.realPath(path)) !== path) throw new ToolError(`${display} leads somewhere else by now. The conversation stays.`)
      return true
    } catch (error) {
      throw fileFailure(`make ${display}`, error)
    }
  }
}
