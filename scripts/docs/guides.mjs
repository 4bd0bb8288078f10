import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { ROOT } from './document.mjs';

/** Documents that are called something else on the site, or come from another folder. */
const NAMES = {
  'docs/README.md': 'engineers',
  'docs/adr/README.md': 'adr/index',
  'packages/sdk/README.md': 'typescript',
  'packages/python/README.md': 'python',
  'packages/cli/README.md': 'command-line',
};

/** The documents that people write, as pages: `{ name, source, markdown }`. */
export function guidePages() {
  const documents = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md') && !name.startsWith('.vitepress'))
    .map((name) => `docs/${name}`);
  const sources = [...new Set([...documents, ...Object.keys(NAMES)])];
  const names = new Map(
    sources.map((source) => [source, NAMES[source] ?? source.replace(/^docs\/|\.md$/g, '')]),
  );
  return sources.map((source) => ({
    name: names.get(source),
    source,
    markdown: published(readFileSync(join(ROOT, source), 'utf8'), source, names),
  }));
}

/** Without its frontmatter; links lead to pages. A link to a file that is no page becomes its text. */
export function published(markdown, source, names) {
  const from = posix.dirname(names.get(source));
  return markdown
    .replace(/^---\n[\s\S]*?\n---\n+/, '')
    .replaceAll(/\[([^\]\n]*)\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)/g, (all, text, target, anchor = '') => {
      const to = posix.join(posix.dirname(source), target);
      const name = names.get(to);
      if (name === undefined) return to.startsWith('docs/images/') ? all : text;
      return `[${text}](${posix.relative(from, name)}.md${anchor})`;
    });
}
