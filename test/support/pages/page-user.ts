import { deepEqual } from 'node:assert/strict';
import { WAIT_MS } from '../eventually.js';
import type { Locator, Page } from 'playwright-core';
import type { WatchedPage } from '../http/browser.js';
import { checkScreen } from '../http/screen.js';

type Name = string | RegExp;

/** Widths at which a page has to work: desktop, tablet, phone. */
const WIDTHS = [
  { width: 1280, height: 860 },
  { width: 768, height: 900 },
  { width: 360, height: 740 },
] as const;

/** Colours that fade in would have no contrast at first. */
export const STILL = { viewport: WIDTHS[0], reducedMotion: 'reduce' } as const;

/** A person at the console or the portal. */
export class PageUser {
  readonly page: Page;
  readonly problems: string[];
  clicks = 0;

  constructor(
    { page, problems }: WatchedPage,
    readonly origin: string,
  ) {
    this.page = page;
    this.problems = problems;
  }

  async open(path: string, heading?: Name): Promise<void> {
    await this.page.goto(new URL(path, this.origin).href);
    if (heading !== undefined) await this.heading(heading);
  }

  async heading(name: Name): Promise<void> {
    // The page is read again every 15 s.
    await this.page.getByRole('heading', { level: 1, name }).waitFor({ timeout: WAIT_MS });
  }

  /** Waits until everything on the page is read. */
  async settled(): Promise<void> {
    await this.page.locator('main h1').first().waitFor();
    await this.page.locator('p.state[role=status]').first().waitFor({ state: 'detached' });
  }

  /** Searches by keyboard: `/`, a value, Enter. */
  async search(text: string): Promise<void> {
    await this.page.keyboard.press('/');
    await this.page.keyboard.type(text);
    await this.page.keyboard.press('Enter');
    this.clicks = 0;
  }

  text(text: Name): Locator {
    return this.page.getByText(text).first();
  }

  alert(): Locator {
    return this.page.getByRole('alert');
  }

  async follow(name: Name, within: Page | Locator = this.page): Promise<void> {
    this.clicks += 1;
    await within.getByRole('link', { name }).first().click();
  }

  button(name: string, within: Page | Locator = this.page): Locator {
    return within.getByRole('button', { name, exact: true });
  }

  async press(name: string, within: Page | Locator = this.page): Promise<void> {
    this.clicks += 1;
    await this.button(name, within).click();
  }

  get dialog(): Locator {
    return this.page.getByRole('dialog');
  }

  /** Writes: presses the button, fills in the fields by label, and submits. */
  async write(action: string, fields: Readonly<Record<string, string>>, submit = action): Promise<void> {
    await this.press(action);
    for (const [label, value] of Object.entries(fields)) {
      const field = this.dialog.getByLabel(label);
      await field.waitFor();
      const isChoice = (await this.dialog.getByRole('combobox', { name: label }).count()) > 0;
      await (isChoice ? field.selectOption(value) : field.fill(value));
    }
    await this.press(submit, this.dialog);
  }

  get path(): string {
    return this.page.url().slice(this.origin.length);
  }

  rows(): Locator {
    return this.page.locator('tbody tr');
  }

  /** Expects no error and no refusal on the page. */
  async expectFine(): Promise<void> {
    await this.settled();
    deepEqual(await this.alert().allTextContents(), []);
    deepEqual(this.problems, []);
  }

  /** Runs axe-core at every width, in light and dark. Verifies colours only on a desktop, unless AXE=all. */
  async check(): Promise<void> {
    for (const [place, size] of WIDTHS.entries()) {
      await this.page.setViewportSize(size);
      await checkScreen(this.page, process.env['AXE'] === 'all' || place === 0);
    }
    await this.page.setViewportSize(WIDTHS[0]);
  }
}
