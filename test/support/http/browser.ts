import { deepEqual } from 'node:assert/strict';
import { afterAll, afterEach, beforeAll } from '@jest/globals';
import {
  chromium,
  type Browser,
  type BrowserContextOptions,
  type Frame,
  type Locator,
  type Page,
} from 'playwright-core';
import { systemProgram } from '../programs/system-program.js';
import { checkScreen, keepPicture } from './screen.js';

const ARGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  // A camera of 20 pictures a second would cost more than the rest of a page.
  '--use-fake-device-for-media-stream=fps=5',
];
export const SIZES = { desktop: { width: 1000, height: 820 }, phone: { width: 375, height: 740 } } as const;

/** Returns the path of CHROMIUM or of an installed Chromium, or null. */
const findChromium = (): string | null => process.env['CHROMIUM'] ?? systemProgram('chromium');

export const canBrowse = (): boolean => findChromium() !== null;

/** A page with its problems: console errors, exceptions, violations of its policy, external requests. */
export interface WatchedPage<Where extends Page | Frame = Page> {
  readonly page: Where;
  /** A test that provokes problems empties this list. Refused step calls (4xx) do not count. */
  readonly problems: string[];
}

export class TestBrowser {
  private browser: Browser | null = null;
  private readonly visits: WatchedPage[] = [];

  async start(): Promise<void> {
    const executablePath = findChromium();
    if (executablePath !== null)
      this.browser = await chromium.launch({ executablePath, headless: true, args: ARGS });
  }

  /** Opens a page for a new visitor, who may send requests to `origins` alone. */
  async visit(origins: readonly string[], options: BrowserContextOptions = {}): Promise<WatchedPage> {
    const context = await this.browser!.newContext({
      locale: 'en-US',
      viewport: SIZES.desktop,
      ...options,
    });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    const problems: string[] = [];
    page.on('console', (message) => {
      const refusedStep = /the server responded with a status of 4/.test(message.text());
      if (['error', 'warning'].includes(message.type()) && !refusedStep) problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol !== 'data:' && !origins.includes(origin)) problems.push(`requests ${request.url()}`);
    });
    const visit = { page, problems };
    this.visits.push(visit);
    return visit;
  }

  /** Ends all visits. Fails if one of them had a problem. */
  async leave(): Promise<void> {
    const visits = this.visits.splice(0);
    await Promise.all(visits.map(({ page }) => page.context().close()));
    deepEqual(
      visits.flatMap(({ problems }) => problems),
      [],
    );
  }

  async close(): Promise<void> {
    await this.browser?.close();
  }
}

/** A browser for the tests of a file or a `describe`. A visit ends with its test, without problems. */
export function onTestBrowser(): TestBrowser {
  const browser = new TestBrowser();
  beforeAll(() => browser.start());
  afterEach(() => browser.leave());
  afterAll(() => browser.close());
  return browser;
}

type Values = Readonly<Record<string, string | number>>;

/** A person at a page of the service, in a tab or in a frame, who reads it in their language. */
export class Reader<
  Messages extends Readonly<Record<keyof Messages, string>>,
  Where extends Page | Frame = Page,
> {
  readonly page: Where;
  readonly problems: string[];

  constructor(
    { page, problems }: WatchedPage<Where>,
    private readonly messages: Messages,
    private readonly always: Values = { merchant: 'Test merchant' },
  ) {
    this.page = page;
    this.problems = problems;
  }

  says(key: keyof Messages, values: Values = {}): string {
    const all: Values = { ...this.always, ...values };
    return this.messages[key].replace(/\{(\w+)\}/g, (_, name: string) => String(all[name]));
  }

  async heading(key: keyof Messages, values?: Values): Promise<void> {
    await this.page.getByRole('heading', { name: this.says(key, values), level: 1, exact: true }).waitFor();
  }

  text(key: keyof Messages, values?: Values): Locator {
    return this.page.getByText(this.says(key, values));
  }

  button(key: keyof Messages, values?: Values): Locator {
    return this.page.getByRole('button', { name: this.says(key, values), exact: true });
  }

  async press(key: keyof Messages, values?: Values): Promise<void> {
    await this.button(key, values).click();
  }

  field(key: keyof Messages, values?: Values): Locator {
    return this.page.getByLabel(this.says(key, values), { exact: true });
  }

  /** Waits until the focus is on a match, because the focus follows the page once it is painted. */
  async focused(selector: string): Promise<void> {
    await this.page.locator(`${selector}:focus`).waitFor();
  }

  /** Verifies a screen, and keeps a picture of it for the documents. */
  async check(picture: string | null = null): Promise<void> {
    await checkScreen(this.page);
    if (picture !== null) await keepPicture(this.page, picture);
  }
}
