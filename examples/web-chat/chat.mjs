/** A chat with one session. The address of the page names it (`#ses_…`), so that a reload goes on with it. */
import { createClient } from './client.js'

const settings = new URLSearchParams(location.search)
const client = createClient({
  baseUrl: settings.get('server') ?? 'http://127.0.0.1:4096',
  directory: settings.get('directory') ?? undefined,
})

const messages = document.querySelector('#messages')
const form = document.querySelector('form')
const { prompt, send, stop } = form.elements

/** Adds a block to the conversation; answers its element. */
function show(kind, text = '') {
  const element = document.createElement('div')
  element.className = kind
  element.textContent = text
  messages.append(element)
  element.scrollIntoView({ block: 'end' })
  return element
}

function showError(error) {
  show('error', error instanceof Error ? error.message : String(error))
}

/** The session of the address, with what was said in it, or a new one. */
async function openSession() {
  const known = location.hash.slice(1)
  if (known === '') {
    const { id } = await client.sessions.create()
    location.hash = id
    return id
  }
  for (const { info, parts } of await client.sessions.context({ sessionId: known })) {
    for (const part of parts) if (part.type === 'text' && !part.synthetic) show(info.role, part.text)
    if (info.role === 'assistant' && info.error !== undefined) show('error', info.error.message)
  }
  return known
}

/** Asks with buttons; `signal` takes the question away. */
function ask(title, answers, signal) {
  const element = show('ask', `${title}\n`)
  return new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(undefined))
    for (const [label, answer] of Object.entries(answers)) {
      const button = document.createElement('button')
      button.textContent = label
      button.addEventListener('click', () => resolve(answer))
      element.append(button)
    }
  }).finally(() => element.remove())
}

async function converse(sessionId, text) {
  const abort = new AbortController()
  const blocks = new Map()
  const blockOf = ({ messageId, id }, kind) => {
    if (!blocks.has(id)) blocks.set(id, { messageId, element: show(kind) })
    return blocks.get(id).element
  }
  stop.addEventListener('click', () => abort.abort(), { once: true })
  show('user', text)
  const run = client.prompt(sessionId, text, {
    signal: abort.signal,
    attempts: Number.POSITIVE_INFINITY,
    onPermission: ({ title }, { signal }) => ask(`Allow ${title}?`, { Once: 'once', Always: 'always', No: 'reject' }, signal),
    onQuestion: () => 'reject',
  })
  for await (const event of run) {
    if (event.type === 'text' || event.type === 'reasoning') {
      const { messageId, partId: id } = event
      blockOf({ messageId, id }, event.type === 'text' ? 'assistant' : 'reasoning').append(event.delta)
    } else if (event.type === 'tool') {
      blockOf(event.part, 'tool').textContent = `${event.part.tool}: ${event.part.state.status}`
    } else if (event.type === 'withdrawn') {
      for (const { messageId, element } of blocks.values()) if (messageId === event.messageId) element.remove()
    } else if (event.type === 'end' && event.error !== undefined) show('error', event.error.message)
  }
}

const sessionId = await openSession().catch(showError)
send.disabled = sessionId === undefined

async function sendPrompt() {
  const text = prompt.value
  prompt.value = ''
  send.disabled = true
  stop.hidden = false
  await converse(sessionId, text).catch(showError)
  send.disabled = false
  stop.hidden = true
  prompt.focus()
}

form.addEventListener('submit', (submitted) => {
  submitted.preventDefault()
  void sendPrompt()
})

prompt.addEventListener('keydown', (pressed) => {
  if (pressed.key !== 'Enter' || pressed.shiftKey || pressed.isComposing) return
  pressed.preventDefault()
  if (!send.disabled) form.requestSubmit()
})
