// npm run dashboards: writes the dashboards of Grafana (docs/metrics.md) from the table below, into deploy/grafana or the
// folder given.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { format } from 'prettier';

const FOLDER = process.argv[2] ?? 'deploy/grafana';
/** Of 24 columns. */
const WIDTH = 12;
const HEIGHT = 8;

const rate = (metric, by, labels = '') => `sum by (${by}) (rate(${metric}${labels}[$__rate_interval]))`;
const quantile = (share, metric, by) =>
  `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (rate(${metric}_bucket[$__rate_interval])))`;
const p99 = (metric, ...by) => quantile(0.99, metric, by);
const median = (metric, ...by) => quantile(0.5, metric, by);

/** Panels as `[title, unit, ...[query, legend]]`. */
const DASHBOARDS = {
  service: [
    'Service',
    [
      'Error budgets spent, as a multiple of what 30 days allow',
      'none',
      ['disburse:slo_misses:ratio1h / on (slo) group_left disburse:slo_budget:ratio', '{{slo}}, 1 h'],
      ['disburse:slo_misses:ratio3d / on (slo) group_left disburse:slo_budget:ratio', '{{slo}}, 3 d'],
    ],
    [
      'Alerts',
      'none',
      ['sum by (alertname, severity) (ALERTS{alertstate="firing"})', '{{alertname}} ({{severity}})'],
    ],
    ['Requests by status', 'reqps', [rate('disburse_http_requests_total', 'status'), '{{status}}']],
    [
      'Response time by route, 99th percentile',
      's',
      [p99('disburse_http_request_duration_seconds', 'route'), '{{route}}'],
    ],
    [
      'Processes that respond',
      'none',
      ['sum(up{job="disburse"})', 'up'],
      ['count(up{job="disburse"})', 'known'],
    ],
    ['Checks that fail', 'none', ['count by (check) (disburse_health_check == 0)', '{{check}}']],
    [
      'Reads that waited for earlier writes',
      'reqps',
      [rate('disburse_read_waits_total', 'outcome'), '{{outcome}}'],
    ],
    ['Idempotent requests', 'reqps', [rate('disburse_idempotent_requests_total', 'outcome'), '{{outcome}}']],
    ['Work that is due, oldest', 's', ['max by (work) (disburse_due_work_oldest_seconds)', '{{work}}']],
    [
      'Connections cut, and requests left out of the log',
      'reqps',
      ['sum(rate(disburse_http_connections_cut_total[$__rate_interval]))', 'cut'],
      [rate('disburse_request_log_left_out_total', 'reason'), 'left out: {{reason}}'],
    ],
    ['Event loop delay, 99th percentile', 's', ['nodejs_eventloop_lag_p99_seconds', '{{instance}}']],
    [
      'Memory and processor',
      'none',
      ['process_resident_memory_bytes / 1048576', '{{instance}}, MiB'],
      ['100 * rate(process_cpu_seconds_total[$__rate_interval])', '{{instance}}, % of a core'],
    ],
    ['Clock ahead of the database', 's', ['disburse_clock_skew_seconds', '{{instance}}']],
    [
      'Operations that wait for a second person',
      'none',
      ['max(disburse_operations_pending_approval)', 'approval'],
      ['max(disburse_operations_unconfirmed_overdue)', 'confirmation overdue'],
    ],
    [
      'Until the next credential expires',
      's',
      ['min by (kind) (disburse_credential_expiry_timestamp_seconds) - time()', '{{kind}}'],
    ],
  ],
  money: [
    'Money',
    [
      'Reports of payouts by status',
      'reqps',
      [
        rate('disburse_http_requests_total', 'status', '{route="/merchants/v1/payouts/report"}'),
        '{{status}}',
      ],
    ],
    ['Payouts that wait for their transfer', 'none', ['max(disburse_pending_payouts)', 'pending']],
    [
      'Payouts received',
      'reqps',
      ['sum(rate(disburse_payout_verification_delay_seconds_count[$__rate_interval]))', 'received'],
    ],
    [
      'From finality to the outcome',
      's',
      [median('disburse_payout_verification_delay_seconds'), 'median'],
      [p99('disburse_payout_verification_delay_seconds'), '99th percentile'],
    ],
    ['Open orders of the exchange', 'none', ['max by (status) (disburse_exchange_orders)', '{{status}}']],
    [
      'Orders with money that a person has to move',
      'none',
      ['max(disburse_exchange_orders_refundable)', 'refundable'],
      ['max(disburse_exchange_orders_shortfall)', 'shortfall'],
    ],
    ['Events of orders', 'reqps', [rate('disburse_exchange_order_events_total', 'type'), '{{type}}']],
    [
      'Provider of the exchange, failed calls',
      'reqps',
      [
        rate('disburse_exchange_provider_errors_total', 'provider, operation, kind'),
        '{{provider}} {{operation}}: {{kind}}',
      ],
    ],
    [
      'Provider of the exchange, response time, 99th percentile',
      's',
      [
        p99('disburse_exchange_provider_duration_seconds', 'provider', 'operation'),
        '{{provider}} {{operation}}',
      ],
    ],
    [
      'Polls of orders that are due',
      'none',
      ['max(disburse_due_work{work="exchange.watch"})', 'orders'],
      ['max(disburse_due_work_oldest_seconds{work="exchange.watch"})', 'oldest, seconds'],
    ],
  ],
  webhooks: [
    'Webhooks',
    [
      'Attempts by outcome',
      'reqps',
      [rate('disburse_webhook_delivery_attempts_total', 'outcome'), '{{outcome}}'],
    ],
    [
      'From the event to the first attempt',
      's',
      [median('disburse_webhook_first_attempt_delay_seconds'), 'median'],
      [p99('disburse_webhook_first_attempt_delay_seconds'), '99th percentile'],
    ],
    [
      'Response time of receivers',
      's',
      [median('disburse_webhook_delivery_duration_seconds'), 'median'],
      [p99('disburse_webhook_delivery_duration_seconds'), '99th percentile'],
    ],
    ['Deliveries that are due', 'none', ['max(disburse_due_work{work="webhooks.deliveries"})', 'due']],
    [
      'The oldest of them',
      's',
      ['max(disburse_due_work_oldest_seconds{work="webhooks.deliveries"})', 'oldest'],
    ],
    [
      'Events without their deliveries yet',
      's',
      ['max(disburse_subscription_lag_seconds{subscription="webhooks.deliveries"})', 'oldest'],
    ],
    [
      'Endpoints disabled automatically',
      'none',
      ['sum by (cause) (increase(disburse_webhook_endpoints_disabled_total[$__rate_interval]))', '{{cause}}'],
    ],
  ],
  chain: [
    'Chain',
    [
      'Nodes that can be relied on',
      'none',
      ['max by (node, host) (disburse_chain_node_up)', '{{node}} {{host}}'],
    ],
    [
      'Age of the newest block',
      's',
      ['min by (node, host) (disburse_chain_node_head_age_seconds)', '{{node}} {{host}}'],
    ],
    ['Age of the newest final block', 's', ['min(disburse_chain_final_age_seconds)', 'final']],
    [
      'Checks of payouts by outcome',
      'reqps',
      [rate('disburse_payout_checks_total', 'outcome'), '{{outcome}}'],
    ],
    [
      'Processes without a chain',
      'none',
      ['count(disburse_health_check{check="chain"} == 0)', 'unavailable'],
    ],
    [
      'Verifications that are due, oldest',
      's',
      ['max(disburse_due_work_oldest_seconds{work="payouts.verification"})', 'oldest'],
    ],
  ],
  onboarding: [
    'Onboarding and events of merchants',
    ['Onboardings by stage', 'none', ['max by (stage) (disburse_onboardings)', '{{stage}}']],
    ['The oldest of each stage', 's', ['max by (stage) (disburse_onboardings_oldest_seconds)', '{{stage}}']],
    [
      'Calls of providers by outcome',
      'reqps',
      [rate('disburse_onboarding_provider_calls_total', 'port, outcome'), '{{port}}: {{outcome}}'],
    ],
    [
      'Response time of providers, 99th percentile',
      's',
      [p99('disburse_onboarding_provider_duration_seconds', 'port'), '{{port}}'],
    ],
    [
      'Callbacks of identity providers',
      'reqps',
      [rate('disburse_identity_callbacks_total', 'outcome'), '{{outcome}}'],
    ],
    [
      'Configured providers',
      'none',
      ['max by (port, provider) (disburse_onboarding_providers)', '{{port}}: {{provider}}'],
    ],
    ['Events received from merchants', 'reqps', [rate('disburse_events_total', 'outcome'), '{{outcome}}']],
    [
      'Batches of events',
      'reqps',
      [rate('disburse_event_batches_received_total', 'outcome'), 'received, {{outcome}}'],
      [rate('disburse_event_batches_total', 'outcome'), '{{outcome}}'],
    ],
    [
      'Batches that wait, and events not passed on',
      'none',
      ['max(disburse_event_batches_waiting)', 'batches'],
      ['max(disburse_analytics_backlog_events)', 'events'],
      ['max(disburse_analytics_backlog_age_seconds)', 'oldest event, seconds'],
    ],
    ['Storing a batch, 99th percentile', 's', [p99('disburse_event_batch_store_duration_seconds'), 'store']],
    [
      'Analytics provider',
      'reqps',
      [rate('disburse_analytics_requests_total', 'outcome'), 'requests, {{outcome}}'],
      [rate('disburse_analytics_events_total', 'outcome'), 'events, {{outcome}}'],
    ],
    [
      'Analytics provider, failures in a row',
      'none',
      ['max by (cause) (disburse_analytics_unavailable)', '{{cause}}'],
    ],
  ],
  'event-store': [
    'Event store',
    [
      'Appends, 99th percentile',
      's',
      [median('disburse_append_duration_seconds'), 'median'],
      [p99('disburse_append_duration_seconds'), '99th percentile'],
    ],
    [
      'Units of work per append',
      'none',
      [
        'sum(rate(disburse_append_units_total[$__rate_interval])) / sum(rate(disburse_append_duration_seconds_count[$__rate_interval]))',
        'units',
      ],
    ],
    [
      'Commands decided again',
      'reqps',
      [rate('disburse_command_conflicts_total', 'category'), '{{category}}'],
    ],
    [
      'Subscriptions behind',
      's',
      ['max by (subscription) (disburse_subscription_lag_seconds)', '{{subscription}}'],
    ],
    [
      'Subscriptions that are halted',
      'none',
      ['max by (subscription, type) (disburse_subscription_halted)', '{{subscription}} at {{type}}'],
    ],
    [
      'Processes without event store or database',
      'none',
      [
        'count by (check) (disburse_health_check{check=~"event_store|database|queue|ledger"} == 0)',
        '{{check}}',
      ],
    ],
    [
      'Since the last verification',
      's',
      ['time() - max by (outcome) (disburse_audit_verify_timestamp_seconds)', '{{outcome}}'],
    ],
  ],
};

mkdirSync(FOLDER, { recursive: true });
for (const [name, [title, ...panels]] of Object.entries(DASHBOARDS)) {
  const text = JSON.stringify(dashboard(name, title, panels));
  writeFileSync(join(FOLDER, `${name}.json`), await format(text, { parser: 'json', printWidth: 110 }));
}

function dashboard(name, title, panels) {
  return {
    uid: `disburse-${name}`,
    title: `disburse: ${title}`,
    tags: ['disburse'],
    schemaVersion: 39,
    time: { from: 'now-6h', to: 'now' },
    refresh: '30s',
    templating: { list: [{ name: 'datasource', type: 'datasource', query: 'prometheus' }] },
    panels: panels.map(panel),
  };
}

function panel([title, unit, ...queries], place) {
  const datasource = { type: 'prometheus', uid: '${datasource}' };
  return {
    id: place + 1,
    type: 'timeseries',
    title,
    datasource,
    gridPos: { x: (place % 2) * WIDTH, y: Math.floor(place / 2) * HEIGHT, w: WIDTH, h: HEIGHT },
    fieldConfig: { defaults: { unit, min: title.includes('ahead') ? null : 0 }, overrides: [] },
    targets: queries.map(([expr, legendFormat], n) => ({ refId: 'ABC'[n], datasource, expr, legendFormat })),
  };
}
