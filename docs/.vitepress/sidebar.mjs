/** The guides, in the order of the sidebar and of llms.txt. */
export const GUIDES = [
  {
    text: 'Integrate',
    items: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'Users and payouts', link: '/payouts' },
      { text: 'Reconciliation', link: '/payouts#reconcile' },
      { text: 'Going live', link: '/payouts#go-live' },
      { text: 'Webhooks', link: '/webhooks' },
      { text: 'Onboarding', link: '/onboarding' },
      { text: 'Exchange', link: '/exchange' },
      { text: 'Inbound events', link: '/inbound-events' },
      { text: 'Portal', link: '/portal' },
      { text: 'Signatures by hand', link: '/signing' },
    ],
  },
  {
    text: 'Clients',
    items: [
      { text: 'TypeScript', link: '/typescript' },
      { text: 'Python', link: '/python' },
      { text: 'Command line', link: '/command-line' },
    ],
  },
  { text: 'API reference', link: '/reference/', items: [{ text: 'Errors', link: '/reference/errors' }] },
  {
    text: 'Operate',
    items: [
      { text: 'Operations', link: '/operations' },
      { text: 'Runbooks', link: '/runbooks' },
      { text: 'Metrics', link: '/metrics' },
      { text: 'Backup and restore', link: '/backup' },
      { text: 'Admin API', link: '/admin-api' },
      { text: 'Configuration', link: '/configuration' },
      { text: 'Limits', link: '/limits' },
      { text: 'Keys', link: '/keys' },
      { text: 'Data protection', link: '/data-protection' },
      { text: 'EventStoreDB', link: '/eventstoredb' },
      { text: 'Upgrading', link: '/upgrading' },
    ],
  },
  { text: 'Audit', items: [{ text: 'Auditing', link: '/auditing' }] },
  {
    text: 'Rules and internals',
    items: [
      { text: 'Contract', link: '/contract' },
      { text: 'Stored events', link: '/events' },
      { text: 'Glossary', link: '/glossary' },
      { text: 'What to read', link: '/engineers' },
      { text: 'Architecture', link: '/architecture' },
      { text: 'Extending', link: '/extending' },
      { text: 'Migrations', link: '/migrations' },
      { text: 'Benchmarks', link: '/benchmarks' },
      { text: 'Chaos', link: '/chaos' },
      { text: 'Decisions', link: '/adr/' },
    ],
  },
];
