import { readFileSync } from 'node:fs';
import { defineConfig } from 'vitepress';
import { GUIDES } from './sidebar.mjs';

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
  vite: { logLevel: 'warn', build: { chunkSizeWarningLimit: 4096 } },
  markdown: {
    anchor: { slugify },
    config: renderEmptyHeaders,
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

/** A header cell without a text is no header. */
function renderEmptyHeaders({ renderer }) {
  const isEmpty = (tokens, n) => tokens[n]?.type === 'inline' && tokens[n].content === '';
  renderer.rules.th_open = (tokens, n, options, env, self) => {
    if (isEmpty(tokens, n + 1)) tokens[n].tag = 'td';
    return self.renderToken(tokens, n, options);
  };
  renderer.rules.th_close = (tokens, n, options, env, self) => {
    if (isEmpty(tokens, n - 1)) tokens[n].tag = 'td';
    return self.renderToken(tokens, n, options);
  };
}

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
