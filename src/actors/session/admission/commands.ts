/** Commands as prompts: the template is filled in and submitted as a run of its own (subsystems b.9). */
import { expandCommand } from '../../../machines/command.js'
import type { Caller } from '../../../protocol/caller.js'
import type { SessionCommandRequest } from '../../../protocol/resource/command.js'
import { SvcError } from '../../../protocol/errors.js'
import type { Message, UserModel } from '../../../protocol/message/message.js'
import { parseModel } from '../../resource/markdown/agents.js'
import { type SessionCore, sessionOrThrow } from '../core.js'
import { getMessage } from '../history/history.js'
import { submitPrompt, TEXT_BYTES } from './prompts.js'

/** Admits the command durably; answers the id of its prompt. What the command says of agent and model counts before the request. */
export async function submitCommand(
  core: SessionCore,
  caller: Caller,
  sessionId: string,
  request: SessionCommandRequest,
  wake: () => void,
): Promise<string> {
  const { directory } = sessionOrThrow(core, sessionId)
  const command = await core.resources.command(directory, request.command)
  const prompt = expandCommand(command.template, request.arguments ?? '', TEXT_BYTES)
  if (prompt === undefined) {
    throw new SvcError('request.unprocessable', `The command "${command.name}" with these arguments is longer than a prompt may be.`, {
      command: command.name,
    })
  }
  const messageId = request.messageId ?? core.effects.ids.next('msg')
  const agent = command.agent ?? request.agent
  const model = modelOf(command.model) ?? request.model
  const content = { prompt, messageId, ...(agent !== undefined && { agent }), ...(model !== undefined && { model }) }
  await submitPrompt(core, caller, sessionId, content, 'queue', wake)
  return messageId
}

/** The last answer to a prompt, or the prompt itself when nothing answered it. */
export function answerTo(core: SessionCore, sessionId: string, messageId: string): Message {
  const isAnswer = ({ info }: Message) => info.role === 'assistant' && info.parentId === messageId
  return core.store.messages.all(sessionId).findLast(isAnswer) ?? getMessage(core, sessionId, messageId)
}

function modelOf(text: string | undefined): UserModel | undefined {
  const ref = parseModel(text)
  return ref === undefined ? undefined : { providerId: ref.providerId, modelId: ref.id }
}
