/** Every metric of `GET /v2/metrics`: what is counted, the table of the documents and what dashboards may name come of this. */

export interface Metric {
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly help: string
  readonly labels?: readonly string[]
}

const model = ['provider', 'model'] as const

/** By name, as it is scraped but for the suffixes of histograms. */
export const METRICS = {
  svc_build_info: { type: 'gauge', help: 'Always 1; its labels say which svc this is, and on which Node.', labels: ['version', 'node'] },
  svc_runs_total: { type: 'counter', help: 'Runs that have ended: `completed`, `error` or `interrupted`.', labels: ['end'] },
  svc_run_duration_seconds: { type: 'histogram', help: 'From the claim of a prompt to the end of its run.' },
  svc_model_calls_total: {
    type: 'counter',
    help: 'Steps of runs: requests to models, and turns of external agents. `finish` is why the model stopped, or `error`.',
    labels: [...model, 'finish'],
  },
  svc_model_call_duration_seconds: {
    type: 'histogram',
    help: 'From the beginning of a step to the end of what the model says.',
    labels: model,
  },
  svc_model_retries_total: { type: 'counter', help: 'Steps that failed and were made again.' },
  svc_model_tokens_total: {
    type: 'counter',
    help: 'Tokens of models: `input`, `output`, `reasoning`, `cache_read`, `cache_write`, as they say it.',
    labels: [...model, 'kind'],
  },
  svc_model_cost_dollars_total: {
    type: 'counter',
    help: 'What models cost by the prices of the catalog, US dollars there.',
    labels: model,
  },
  svc_tool_calls_total: { type: 'counter', help: 'Calls of tools that have ended: `completed` or `error`.', labels: ['tool', 'end'] },
  svc_tool_call_duration_seconds: {
    type: 'histogram',
    help: 'From the acceptance of a call to its end, waits for answers included.',
    labels: ['tool'],
  },
  svc_errors_total: { type: 'counter', help: 'Runs that have failed, by the code of the error.', labels: ['code'] },
  svc_compactions_total: { type: 'counter', help: 'Compactions that have ended: `completed`, `over` or `error`.', labels: ['end'] },
  svc_requests_asked_total: { type: 'counter', help: 'Permissions and questions that people were asked.', labels: ['kind'] },
  svc_requests_answered_total: { type: 'counter', help: 'What came of them.', labels: ['kind', 'reply'] },
  svc_http_requests_total: {
    type: 'counter',
    help: 'Answered calls by operation (`none`: of no operation) and status.',
    labels: ['operation', 'status'],
  },
  svc_http_request_duration_seconds: {
    type: 'histogram',
    help: 'From a call to the end of its answer; streams of events are left out.',
    labels: ['operation'],
  },
  svc_sessions_busy: { type: 'gauge', help: 'Sessions with a run, or with something that waits for one.' },
  svc_sessions_awake: { type: 'gauge', help: 'Sessions whose actor lives.' },
  svc_queued_prompts: { type: 'gauge', help: 'Prompts that wait for their run, in all sessions that are busy.' },
  svc_event_subscribers: { type: 'gauge', help: 'Readers of events: streams of clients, and parts of the server.' },
  svc_inspector_viewers: { type: 'gauge', help: 'Open inspectors.' },
  svc_plugins: { type: 'gauge', help: 'Packages and built-in plugins by state.', labels: ['state'] },
  svc_plugin_generations: { type: 'gauge', help: 'Generations of plugins that run something, those that drain included.' },
  svc_plugin_generation: { type: 'gauge', help: 'Number of the set of plugins that serves; it grows when what is offered changes.' },
  svc_processes: { type: 'gauge', help: 'Programs that svc has started and that run.' },
  svc_terminals: { type: 'gauge', help: 'Terminals that run.' },
  svc_outgoing_requests_total: { type: 'counter', help: 'Requests that left svc.' },
  svc_outgoing_failures_total: { type: 'counter', help: 'Those of them that failed.' },
  svc_outgoing_received_bytes_total: { type: 'counter', help: 'Bytes of the bodies that came back.' },
  svc_outgoing_open: { type: 'gauge', help: 'Requests that are under way.' },
  svc_event_sequence: { type: 'gauge', help: 'Number of the latest event; numbers are reserved in blocks, so that it jumps at a start.' },
  svc_commits_total: { type: 'counter', help: 'Transactions of the journal.' },
  svc_store_bytes: {
    type: 'gauge',
    help: 'Size of the files of the store: `database`, `log` (its write-ahead log), `search`.',
    labels: ['file'],
  },
  svc_event_loop_delay_seconds: {
    type: 'gauge',
    help: 'By how much turns of the event loop were late since the scrape before: `quantile` 0.5, 0.99 and 1.',
    labels: ['quantile'],
  },
  process_start_time_seconds: { type: 'gauge', help: 'When the process began, Unix time.' },
  process_cpu_seconds_total: { type: 'counter', help: 'Processor time of the server, its programs not counted.' },
  process_resident_memory_bytes: { type: 'gauge', help: 'Memory of the server.' },
  process_heap_bytes: { type: 'gauge', help: 'What is in use of the heap of V8.' },
  process_open_fds: { type: 'gauge', help: 'Open descriptors, where the system tells.' },
} as const satisfies Readonly<Record<string, Metric>>

export type MetricName = keyof typeof METRICS

/** Bounds of the buckets of a duration, seconds. */
export const BUCKETS: readonly number[] = [0.005, 0.02, 0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 900]
