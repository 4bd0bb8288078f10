import { createContext } from 'preact';
import { useContext, useEffect, useRef, useState } from 'preact/hooks';
import type { Api, OnboardingFacts } from './api.js';
import { Refusal } from './api.js';
import type { Format } from './messages.js';

/** The context of every screen. */
export interface Page {
  readonly facts: OnboardingFacts;
  readonly api: Api;
  readonly format: Format;
  /**
   * Handles a refusal that closes or replaces the screen: an ended session, a suspended merchant, another
   * stage. Returns true if it did.
   */
  readonly leave: (refusal: Refusal) => Promise<boolean>;
}

export const PageContext = createContext<Page | null>(null);

export function usePage(): Page {
  return useContext(PageContext)!;
}

/**
 * Runs one act at a time: `run` has no effect during another act. `refused` receives each refusal that {@link
 * Page.leave} does not handle.
 */
export function useAct(refused: (refusal: Refusal) => void): {
  readonly busy: boolean;
  readonly run: (act: () => Promise<void>) => void;
} {
  const { leave } = usePage();
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const mounted = useRef(true);
  useEffect(() => () => void (mounted.current = false), []);
  const attempt = async (act: () => Promise<void>): Promise<void> => {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!(await leave(error)) && mounted.current) refused(error);
    }
  };
  const run = (act: () => Promise<void>): void => {
    if (running.current) return;
    running.current = true;
    setBusy(true);
    void attempt(act).finally(() => {
      running.current = false;
      if (mounted.current) setBusy(false);
    });
  };
  return { busy, run };
}

/** While `open`, the browser's back button does `close` instead of closing the page. */
export function useBack(open: boolean, close: () => void): void {
  const act = useRef(close);
  act.current = close;
  useEffect(() => {
    if (!open) return undefined;
    // The entry of an earlier screen is used again. Going back by program would also undo later navigation of
    // the embedding page.
    if (!isInside()) history.pushState({ inside: true }, '');
    const back = (): void => act.current();
    addEventListener('popstate', back);
    return () => removeEventListener('popstate', back);
  }, [open]);
}

function isInside(): boolean {
  return (history.state as { readonly inside?: boolean } | null)?.inside === true;
}
