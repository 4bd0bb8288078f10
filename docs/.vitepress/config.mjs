import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';

const GUIDES = [
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
    collapsed: true,
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

/** What scripts/docs/build.mjs wrote next to the pages. */
const site = JSON.parse(readFileSync(new URL('./.pages/site.json', import.meta.url), 'utf8'));

export default defineConfig({
  title: 'disburse',
  titleTemplate: ':title · disburse',
  description: 'Users, USDC payouts, signed webhooks and an exchange: guides and the API reference.',
  lang: 'en',
  base: '/docs/',
  cleanUrls: true,
  srcDir: '.vitepress/.pages',
  // The policy of the page allows no other inline scripts than its own small ones.
  metaChunk: true,
  router: { prefetchLinks: false },
  // Links to localhost are in texts.
  ignoreDeadLinks: 'localhostLinks',
  vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 4096, rollupOptions: { treeshake: false } } },
  markdown: {
    anchor: { slugify },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  transformPageData: ({ relativePath, frontmatter }) => {
    const tryIt = site.tryIt[relativePath];
    return { frontmatter: tryIt === undefined ? frontmatter : { ...frontmatter, tryIt } };
  },
  themeConfig: {
    search: { provider: 'local', options: { _render: searchable } },
    outline: [2, 3],
    nav: [
      { text: 'Quickstart', link: '/quickstart' },
      { text: 'API reference', link: '/reference/', activeMatch: '^/reference/' },
      { text: 'Operate', link: '/operations' },
    ],
    sidebar: {
      '/reference/': [
        {
          text: 'API reference',
          items: [
            { text: 'Overview', link: '/reference/' },
            { text: 'Errors', link: '/reference/errors' },
            { text: 'Guides', link: '/' },
          ],
        },
        ...site.sidebar,
      ],
      '/': GUIDES,
    },
  },
});

/** Anchors as GitHub makes them: documents are read there too. */
function slugify(heading) {
  return heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');
}

/** The HTML of a page that is searched. Decisions are for those who change the service. */
function searchable(markdown, env, renderer) {
  if (env.relativePath.startsWith('adr/')) return '';
  // Colours of code would be half of the work.
  renderer.set({ highlight: null });
  return renderer.render(markdown, env);
}
