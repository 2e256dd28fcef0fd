/** The page docs/metrics.md: prose that is written here, and the table of metrics from the one that the server counts by. */

const INTRO = `# Metrics

\`GET /v2/metrics\` answers numbers for Prometheus and its like, in the text form of OpenMetrics 1.0. It is for the operator, as the inspector is: with
a token, or a token file, it takes that of an operator; without one everybody who reaches the server may read it.

[examples/observability](../examples/observability/README.md) has the lines for Prometheus, alerts, and a dashboard.

Counting begins with the first scrape: a server that nobody asks counts nothing, and loads nothing for it. With \`SVC_AGENT_METRICS=1\` it begins at the start. What a counter says is of
this process; a restart begins anew. Labels have at most 200 values each, what comes after them is \`other\`; none is an id, a path or a text of somebody.

Traces are in [operations](operations.md#traces).

`

/** `metrics` and `buckets` as `src/actors/telemetry/metric-table.ts` has them. */
export function metricsPage(metrics, buckets) {
  const rows = Object.entries(metrics).map(
    ([name, { type, help, labels = [] }]) =>
      `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ') || '–'} | ${help} |`,
  )
  return `${INTRO}| metric | type | labels | |\n|---|---|---|---|\n${rows.join('\n')}\n\nHistograms have the buckets ${buckets.join(', ')} seconds.\n`
}
