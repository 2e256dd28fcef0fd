/** Where traces go, by the variables of OpenTelemetry. */
import type { Effects } from '../../ports/effects.js'

export interface TraceSettings {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly encoding: 'json' | 'protobuf'
  /** Of one request, ms. */
  readonly timeout: number
  readonly resource: Readonly<Record<string, string>>
  readonly sampler: string
  readonly samplerArgument: number
  /** What is said, asked and answered stands on spans. */
  readonly contents: boolean
}

const TIMEOUT = 10_000
const PROTOCOLS = { 'http/protobuf': 'protobuf', 'http/json': 'json' } as const

/** Undefined where nothing asks for traces; what cannot be done is told in the log. */
export function traceSettings({ env, log }: Pick<Effects, 'env' | 'log'>): TraceSettings | undefined {
  const of = (name: string) => env[`OTEL_EXPORTER_OTLP_TRACES_${name}`] ?? env[`OTEL_EXPORTER_OTLP_${name}`]
  const url = addressOf(env)
  if (url === undefined || isOn(env['OTEL_SDK_DISABLED']) || env['OTEL_TRACES_EXPORTER'] === 'none') return undefined
  const protocol = of('PROTOCOL') ?? 'http/protobuf'
  if (!Object.hasOwn(PROTOCOLS, protocol) || !URL.canParse(url)) {
    log.warn('no traces are sent: OTLP goes over http/protobuf or http/json, to an address of http or https', { protocol })
    return undefined
  }
  const timeout = Number(of('TIMEOUT'))
  return {
    url,
    headers: pairsOf(of('HEADERS')),
    encoding: PROTOCOLS[protocol as keyof typeof PROTOCOLS],
    timeout: timeout > 0 ? timeout : TIMEOUT,
    resource: {
      ...pairsOf(env['OTEL_RESOURCE_ATTRIBUTES']),
      ...(env['OTEL_SERVICE_NAME'] && { 'service.name': env['OTEL_SERVICE_NAME'] }),
    },
    sampler: env['OTEL_TRACES_SAMPLER'] ?? 'parentbased_always_on',
    samplerArgument: ratioOf(env['OTEL_TRACES_SAMPLER_ARG']),
    contents: isOn(env['OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT']),
  }
}

function addressOf(env: Effects['env']): string | undefined {
  const own = env['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT']
  if (own !== undefined && own !== '') return own
  const all = env['OTEL_EXPORTER_OTLP_ENDPOINT']
  return all === undefined || all === '' ? undefined : `${all.replace(/\/+$/, '')}/v1/traces`
}

function isOn(value: string | undefined): boolean {
  return value?.trim().toLowerCase() === 'true'
}

function ratioOf(value: string | undefined): number {
  const ratio = Number(value ?? '1')
  return ratio >= 0 && ratio <= 1 ? ratio : 1
}

/** `name=value,name=value`, values percent-encoded. */
function pairsOf(text = ''): Record<string, string> {
  const pairs = text.split(',').flatMap((pair): [string, string][] => {
    const at = pair.indexOf('=')
    return at < 1 ? [] : [[pair.slice(0, at).trim(), decoded(pair.slice(at + 1).trim())]]
  })
  return Object.fromEntries(pairs)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
