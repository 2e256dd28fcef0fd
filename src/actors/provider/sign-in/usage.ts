/** How much of each subscription is used (subsystems c.8). */
import { SvcError } from '../../../protocol/errors.js'
import { parseForeign } from '../../../protocol/text/foreign-json.js'
import { isRecord, type JsonRecord } from '../../../protocol/text/json.js'
import { LIMITS } from '../../../protocol/limits.js'
import { timeLimit } from '../../../kernel/patience.js'
import type { OpenAiAccountUsage, OpenAiUsage, OpenAiUsageWindow } from '../../../protocol/provider/sign-in.js'
import type { SignInConfig } from '../../../protocol/resource/agent-config.js'
import type { Effects } from '../../../ports/effects.js'
import { readAnswer } from '../../../protocol/text/bounded-answer.js'
import type { CredentialFile } from '../credentials/credential-file.js'
import { type Connection, connectionsOf, secretOf, summaryOf } from '../credentials/document.js'
import { checkedAddress } from './settings.js'
import type { Renewal } from './tokens.js'

export interface UsageDeps {
  readonly effects: Pick<Effects, 'network' | 'clock'>
  readonly file: Pick<CredentialFile, 'read'>
  readonly renewal: Renewal
  readonly settings: (providerId: string) => Promise<SignInConfig | undefined>
}

const PROVIDER = 'openai'
const LABELS = new Map([
  [18_000, '5-hour'],
  [604_800, 'Weekly'],
])

/** One entry for each connection of the scope, in its order; what goes wrong is told in the entry. */
export async function subscriptionUsage(deps: UsageDeps, workspaceId: string | undefined): Promise<OpenAiUsage> {
  const { file, settings, effects } = deps
  const document = await file.read()
  const connections = connectionsOf(document, PROVIDER, workspaceId)
  const how = await settings(PROVIDER)
  const all = timeLimit(effects.clock, LIMITS.usage.all, `no answer within ${LIMITS.usage.all} ms`)
  const accounts: OpenAiAccountUsage[] = []
  const waiting = [...connections.entries()]
  const work = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, connection] = next
      const { connectionId, label, authType, isDefault } = summaryOf(document, connection)
      const account = { connection_id: connectionId, label, is_default: isDefault, auth_type: authType }
      accounts[index] = { ...account, ...(await usageOf(deps, connection, how, all.signal)) }
    }
  }
  try {
    await Promise.all(Array.from({ length: LIMITS.usage.atOnce }, work))
  } finally {
    all.clear()
  }
  return { accounts }
}

type Usage = Pick<OpenAiAccountUsage, 'plan_type' | 'windows' | 'error'>

const failed = (error: string): Usage => ({ plan_type: null, windows: [], error })

async function usageOf(
  { effects, renewal }: UsageDeps,
  connection: Connection,
  how: SignInConfig | undefined,
  all: AbortSignal,
): Promise<Usage> {
  const { credential, connectionId, endpoint } = connection
  if (credential.type !== 'oauth') return failed('Usage is known of subscriptions only, not of keys.')
  const limit = timeLimit(effects.clock, LIMITS.usage.account, `no answer within ${LIMITS.usage.account} ms`)
  try {
    const address = how === undefined ? undefined : checkedAddress('usageUrl', how)
    if (address === undefined) return failed('"signIn" of this provider does not say where usage is told.')
    const { accountId } = credential
    const stored = { connectionId, type: 'oauth', secret: secretOf(credential), accountId, endpoint } as const
    const secret = await renewal.secret(PROVIDER, stored)
    const { response } = await effects.network.guardedFetch(address.href, {
      headers: {
        authorization: `Bearer ${secret}`,
        accept: 'application/json',
        ...(accountId !== undefined && { 'chatgpt-account-id': accountId }),
      },
      signal: AbortSignal.any([limit.signal, all]),
      allowHosts: [address.host],
      maxRedirects: 0,
    })
    const answer: unknown = parseForeign(await readAnswer(response, LIMITS.usage.answerBytes))
    if (!isRecord(answer)) return failed('The provider answered something else than usage.')
    return { plan_type: text(answer['plan_type']), windows: windowsOf(answer), error: null }
  } catch (error) {
    return failed(`Usage cannot be told: ${error instanceof SvcError ? error.message : reasonOf(error)}`)
  } finally {
    limit.clear()
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof SyntaxError) return 'the provider answered no JSON.'
  return error instanceof Error ? `${error.message.replace(/\.$/, '')}.` : 'it is not known why.'
}

function windowsOf(answer: JsonRecord): OpenAiUsageWindow[] {
  const limits = isRecord(answer['rate_limit']) ? answer['rate_limit'] : {}
  const review = isRecord(answer['code_review_rate_limit']) ? answer['code_review_rate_limit'] : {}
  return [
    ...windowOf(limits['primary_window'], 'Primary'),
    ...windowOf(limits['secondary_window'], 'Secondary'),
    ...windowOf(review['primary_window'], 'Primary', 'Code review '),
    ...windowOf(review['secondary_window'], 'Secondary', 'Code review '),
  ]
}

function windowOf(value: unknown, otherwise: string, prefix = ''): OpenAiUsageWindow[] {
  if (!isRecord(value)) return []
  const used = number(value['used_percent'])
  if (used === null) return []
  const seconds = number(value['limit_window_seconds'])
  const label = `${prefix}${LABELS.get(seconds ?? 0) ?? otherwise}`
  return [{ label, used_percent: Math.min(100, Math.max(0, used)), reset_at: number(value['reset_at']), limit_window_seconds: seconds }]
}

function number(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value.length <= LIMITS.connections.label ? value : null
}
