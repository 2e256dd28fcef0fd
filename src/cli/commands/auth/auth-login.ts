/** `svc auth login`: shows where to go, and waits until the provider has answered. */
import { realpathSync } from 'node:fs'
import type { Client } from '../../../published/client/client-types.js'
import { SvcError } from '../../../protocol/errors.js'
import { connect } from '../../connection.js'
import { failureText } from '../../failure.js'
import { openBrowser } from '../../terminal/browser.js'
import { watchInterrupts } from '../../terminal/interruption.js'
import { askPerson, isAttended, jsonText, writeError, writeOut } from '../../terminal/output.js'
import type { LoginOptions } from './auth-arguments.js'
import { answersTo, type Answers, readInputs } from './auth-prompts.js'

const INTERRUPTED = 130

/** Signs in; answers 0, or 130 when it was interrupted, which cancels the sign-in. */
export async function login({
  provider: providerId,
  method = 'oauth',
  label,
  inputs,
  isPrinted,
  server,
  json,
}: LoginOptions): Promise<number> {
  const given = readInputs(inputs)
  const connection = await connect(server)
  const { signal, forget } = watchInterrupts(() => undefined)
  try {
    const { client } = connection
    const { begun, scope } = await begin(client, { providerId, method, label, inputs: given }, signal)
    if (begun?.attemptId === undefined) throw noSignIn(providerId)
    const { url, instructions, attemptId } = begun
    writeError(`${instructions}\n\n  ${url}\n\n`)
    if (!isPrinted && begun.method === 'auto' && isAttended()) openBrowser(url)
    await finish(client, { providerId, scope, method, attemptId, isCode: begun.method === 'code' }, signal)
    writeOut(
      json
        ? `${jsonText({ providerId, connected: true }, 2)}\n`
        : `signed in at ${providerId}; svc models ${providerId} lists its models\n`,
    )
    return 0
  } catch (error) {
    if (!signal.aborted) throw error
    writeError('the sign-in was cancelled\n')
    return INTERRUPTED
  } finally {
    forget()
    await connection.close()
  }
}

/** What the installation does not know may be what a plugin brings to this workspace: its sign-ins are of the workspace. */
async function begin(client: Client, { providerId, method, label, inputs: given }: Wanted, signal: AbortSignal) {
  const prompts = await promptsOf(client, { providerId, method })
  let answers: Answers | undefined
  const attempt = async (scope: Scope) => {
    const again = label === undefined ? await signInOf(client, providerId, scope) : undefined
    for (;;) {
      const inputs = (answers ??= await answersTo(prompts, given, signal))
      const body = { method, inputs, ...(label !== undefined && { label }), ...(again !== undefined && { connectionId: again }) }
      try {
        return { begun: await client.providers.oauth.authorize({ providerId, ...scope, body, signal }), scope }
      } catch (error) {
        const isAsked = Object.keys(inputs).some((key) => given[key] === undefined)
        if (!isAsked || !isAttended() || !isRefused(error)) throw error
        writeError(`${failureText(error)}\n`)
        answers = undefined
      }
    }
  }
  try {
    return await attempt({})
  } catch (error) {
    if (!isUnknown(error)) throw error
    return attempt({ workspaceId: realpathSync(process.cwd()) }).catch((reason: unknown) => {
      throw isUnknown(reason) ? error : reason
    })
  }
}

interface Wanted {
  readonly providerId: string
  readonly method: string
  readonly label: string | undefined
  readonly inputs: Answers
}

/** What the provider asks before somebody signs in this way; nothing where it is not known here what ways there are. */
async function promptsOf(client: Client, { providerId, method }: Pick<Wanted, 'providerId' | 'method'>) {
  const methods = (await client.providers.authMethods())[providerId] ?? []
  return (method === 'oauth' ? methods.find(({ type }) => type === method)?.prompts : undefined) ?? []
}

/** Whose sign-in it is: nothing = everybody's. */
interface Scope {
  readonly workspaceId?: string
}

const hasCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code
const isUnknown = (error: unknown): boolean => hasCode(error, 'resource.not_found')
const isRefused = (error: unknown): boolean => hasCode(error, 'request.unprocessable')

/** Who signs in again means the sign-in that calls are made with. */
async function signInOf(client: Client, providerId: string, scope: Scope): Promise<string | undefined> {
  const all = await client.providers.connections.list({ providerId, ...scope })
  return all.find(({ isDefault, authType }) => isDefault && authType === 'oauth')?.connectionId
}

interface Attempt {
  readonly providerId: string
  readonly scope: Scope
  readonly method: string
  readonly attemptId: string
  readonly isCode: boolean
}

/** Waits for the end, and meanwhile takes what is pasted: an answer that is refused may be given again. */
async function finish(client: Client, { providerId, scope, method, attemptId, isCode }: Attempt, signal: AbortSignal): Promise<void> {
  const ended = new AbortController()
  const give = (code?: string) =>
    client.providers.oauth.callback({ providerId, ...scope, body: { method, attemptId, ...(code !== undefined && { code }) }, signal })
  if (isCode) return giveCode(give, signal)
  const waiting = give().finally(() => ended.abort())
  if (isAttended()) void pasteWhile(give, AbortSignal.any([signal, ended.signal]))
  await waiting
}

async function giveCode(give: (code: string) => Promise<unknown>, signal: AbortSignal): Promise<void> {
  const code = await askPerson('Code: ', signal)
  if (code === '') throw new SvcError('request.invalid', 'there was no code; begin again')
  await give(code)
}

async function pasteWhile(give: (code: string) => Promise<unknown>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const code = await askPerson('', signal).catch(() => '')
    if (signal.aborted) return
    if (code !== '') await give(code).catch((error: unknown) => signal.aborted || writeError(`${failureText(error)}\n`))
  }
}

function noSignIn(providerId: string): SvcError {
  return new SvcError(
    'request.unprocessable',
    `nobody can sign in at ${providerId} from here: its vendor has to know this installation (provider.${providerId}.signIn, docs/providers.md). "svc auth set ${providerId}" stores a key.`,
  )
}
