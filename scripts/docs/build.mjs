// Builds the site: writes its pages into docs/.vitepress/.pages, has VitePress make HTML of them, and adds each page as
// Markdown. The site of before is replaced at once. It needs `npm run build` and `npm run build:sdk`.
import { cpSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'vitepress';
import { readDocument, ROOT } from './document.mjs';
import { guidePages } from './guides.mjs';
import { llmsText } from './llms.mjs';
import { referencePages, referenceSidebar } from './reference.mjs';

const BASE = '/docs/';
const root = join(ROOT, 'docs', '.vitepress');
const [sources, next, dist] = ['.pages', '.next', 'dist'].map((name) => join(root, name));
for (const folder of [sources, next]) rmSync(folder, { recursive: true, force: true });

const document = readDocument();
const pages = [...guidePages(), ...(await referencePages(document))];
for (const { name, markdown, tryIt } of pages)
  write(join(sources, `${name}.md`), tryIt ? withForm(markdown) : markdown);
cpSync(join(ROOT, 'docs', 'images'), join(sources, 'images'), { recursive: true });
const tryIt = Object.fromEntries(pages.map((page) => [`${page.name}.md`, page.tryIt]));
write(join(sources, 'site.json'), JSON.stringify({ sidebar: referenceSidebar(document), tryIt }));

await build(join(ROOT, 'docs'), { outDir: next });

// Groups of tabs are VitePress's own.
for (const { name, markdown } of pages)
  write(join(next, `${name}.md`), markdown.replaceAll(/^:::.*\n\n?/gm, ''));
cpSync(join(ROOT, 'docs', 'images'), join(next, 'images'), { recursive: true });
write(join(next, 'llms.txt'), llmsText(pages, BASE));
rmSync(dist, { recursive: true, force: true });
renameSync(next, dist);

function write(file, text) {
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** The form comes before the samples. */
function withForm(markdown) {
  return markdown.replace('\n## Request\n', '\n<TryIt />\n\n## Request\n');
}
