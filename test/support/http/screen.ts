import { deepEqual, ok } from 'node:assert/strict';
import axe from 'axe-core';
import { mkdirSync } from 'node:fs';
import type { Frame, Page } from 'playwright-core';

// A description of passes would take half of axe-core's time.
const REPORT = "reporter: 'no-passes'";
const ALL = `{ ${REPORT} }`;
const COLOURS = `{ ${REPORT}, runOnly: { type: 'rule', values: ['color-contrast', 'link-in-text-block'] } }`;
const NO_COLOURS = `{ ${REPORT}, rules: { 'color-contrast': { enabled: false }, 'link-in-text-block': { enabled: false } } }`;

/**
 * Verifies with axe-core in light and dark mode, and that the screen fits its width. `colours` is false if
 * the same colours were verified at another width.
 */
export async function checkScreen(where: Page | Frame, colours = true): Promise<void> {
  const tab = tabOf(where);
  if (await where.evaluate<boolean>('window.axe === undefined')) await where.evaluate(axe.source);
  if (!colours) {
    await expectNoViolations(where, NO_COLOURS);
    return expectFitting(where);
  }
  const isDark = await where.evaluate<boolean>("matchMedia('(prefers-color-scheme: dark)').matches");
  await tab.emulateMedia({ colorScheme: 'light' });
  await expectNoViolations(where, ALL);
  await tab.emulateMedia({ colorScheme: 'dark' });
  // Only colours depend on the mode.
  await expectNoViolations(where, COLOURS);
  await tab.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
  await expectFitting(where);
}

async function expectFitting(where: Page | Frame): Promise<void> {
  const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
  const pixels = await where.evaluate<number>(overflow);
  ok(pixels <= 0, `the page is ${pixels} px wider than its window`);
}

async function expectNoViolations(where: Page | Frame, options: string): Promise<void> {
  const { violations } = await where.evaluate<{
    violations: { id: string; nodes: { html: string }[] }[];
  }>(`axe.run(${options})`);
  const found = violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]);
  deepEqual(found, []);
}

/** The height of the content if the page reports it, or else of the document. */
const HEIGHT = `(() => {
  const ends = [...document.querySelectorAll('.frame main > *, .frame .side')].map(
    (each) => each.getBoundingClientRect().bottom + scrollY,
  );
  return Math.max(innerHeight * (ends.length === 0), document.documentElement.scrollHeight * (ends.length === 0),
    ...ends.map((end) => Math.ceil(end) + 24));
})()`;

interface PictureOptions {
  readonly width?: number;
  readonly dark?: boolean;
  /** Taller pages are cut off here. */
  readonly maxHeight?: number;
}

/** Saves a picture for the documents, as `docs/images/<name>.png`, only if PICTURES is set. */
export async function keepPicture(
  where: Page | Frame,
  name: string,
  { width, dark, maxHeight = Infinity }: PictureOptions = {},
): Promise<void> {
  if (process.env['PICTURES'] === undefined) return;
  const page = tabOf(where);
  mkdirSync('docs/images', { recursive: true });
  const before = page.viewportSize()!;
  const at = { width: width ?? before.width, height: before.height };
  if (dark) await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize(at);
  // A picture of the full page would be that of a device without touch.
  const full = await page.evaluate<number>(HEIGHT);
  await page.setViewportSize({ ...at, height: Math.min(maxHeight, full) });
  await page.screenshot({ path: `docs/images/${name}.png`, animations: 'disabled' });
  if (dark) await page.emulateMedia({ colorScheme: 'light' });
  await page.setViewportSize(before);
}

const tabOf = (where: Page | Frame): Page => ('context' in where ? where : where.page());
