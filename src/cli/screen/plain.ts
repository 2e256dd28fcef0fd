/**
 * The conversation in plain lines: for terminals that paint nothing again, and for screen readers. The same commands, and each line once.
 *
 * I1 What is typed is a line of the terminal's own: it is answered, said or run when it is whole, and not shown again.
 */
import type { ChatOptions } from '../commands/chat/chat-page.js'
import { openLines, screenWidth, writeError, writeLines } from '../terminal/output.js'
import { type Line, span } from '../terminal/span.js'
import { seconds } from '../terminal/tool-card.js'
import { type Conversation, createConversation } from './talk/conversation.js'

/** Talks until the person leaves; answers 0. */
export async function plainScreen(options: ChatOptions): Promise<number> {
  const shown = { question: undefined as string | undefined, hint: '', retry: '', isAway: false }
  const show = (...lines: readonly Line[]) => (lines.length > 0 ? writeLines('out', lines) : undefined)
  let typed = ''

  function flush(): void {
    show(...conversation.take(screenWidth(), Number.POSITIVE_INFINITY))
    const { question } = conversation.requests
    if (question !== shown.question && question !== undefined)
      show(
        ...question
          .trimEnd()
          .split('\n')
          .map((text): Line => [span(text)]),
      )
    const [hint, retry, isAway] = [hintOf(conversation), retryOf(conversation), conversation.is('away')]
    if (hint !== shown.hint && hint !== '') show([span(hint)])
    if (retry !== shown.retry && retry !== '') show([span(retry)])
    if (shown.isAway && !isAway) show([span('the server is there again')])
    Object.assign(shown, { question, hint, retry, isAway })
  }

  function onLine(line: string): void {
    conversation.typed()
    typed += line
    if (line.endsWith('\\')) return void (typed = `${typed.slice(0, -1)}\n`)
    const text = typed
    typed = ''
    if (conversation.requests.question !== undefined) conversation.requests.answer(text.trim())
    else conversation.say({ text, images: [] })
  }

  const conversation: Conversation = createConversation({
    options,
    width: screenWidth,
    onChange: () => queueMicrotask(flush),
    isEchoed: true,
    giveBack: (texts) => show(...texts.map((text): Line => [span(`taken back: ${text.replaceAll('\n', ' / ')}`)])),
  })
  show([span('/help lists commands, Ctrl-D leaves')])
  const onInterrupt = () => {
    show([]) // After the ^C of the terminal.
    conversation.interrupt()
  }
  const lines = openLines({ onLine, onInterrupt, onEnd: conversation.leave })
  try {
    await conversation.ended
  } finally {
    lines.close()
    const { sessionId } = conversation
    if (sessionId !== undefined) writeError(`go on with: svc --plain --session ${sessionId}\n`)
    await conversation.close()
  }
  return 0
}

/** What is tried again, and when. */
function retryOf({ activity }: Conversation): string {
  if (activity?.until === undefined) return ''
  return `${activity.text}, in ${seconds(Math.max(0, activity.until - activity.since))}`
}

function hintOf(conversation: Conversation): string {
  if (conversation.is('away')) return 'the server is away; connecting again'
  if (conversation.is('aborting')) return 'stopping; Ctrl-C again leaves'
  return conversation.is('warned') ? 'Ctrl-C again, or Ctrl-D, leaves' : ''
}
