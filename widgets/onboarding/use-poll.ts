import { useEffect, useRef, useState } from 'preact/hooks';
import { Refusal, type StepState } from './api.js';
import { usePage } from './page.js';

interface PollInterval {
  readonly firstMs: number;
  readonly maxMs: number;
}

/**
 * Polls the state, less often each time, and at once when the page becomes visible again. Returns true
 * while the connection is lost.
 */
export function usePoll({ firstMs, maxMs }: PollInterval, follow: (state: StepState) => void): boolean {
  const { api, leave } = usePage();
  const now = useRef({ leave, follow });
  now.current = { leave, follow };
  const [lost, setLost] = useState(false);
  useEffect(() => {
    const over = new AbortController();
    let delay = firstMs;
    let wake = (): void => undefined;
    const soon = (): void => {
      if (document.visibilityState !== 'visible') return;
      delay = firstMs;
      wake();
    };
    const update = async (): Promise<void> => {
      try {
        const state = await api.step('state', {});
        if (over.signal.aborted) return;
        setLost(false);
        now.current.follow(state);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        if (over.signal.aborted || (await now.current.leave(error))) return;
        setLost(error.status !== 429);
        delay = Math.max(delay, (error.retryAfterSeconds ?? 0) * 1000);
      }
    };
    const poll = async (): Promise<void> => {
      while (!over.signal.aborted) {
        await new Promise<void>((resolve) => {
          wake = resolve;
          setTimeout(resolve, delay * (0.85 + Math.random() * 0.3));
        });
        if (over.signal.aborted) return;
        delay = Math.min(Math.max(delay, 250) * 1.5, maxMs);
        await update();
      }
    };
    void poll();
    const { signal } = over;
    document.addEventListener('visibilitychange', soon, { signal });
    addEventListener('online', soon, { signal });
    return () => over.abort();
  }, []);
  return lost;
}
