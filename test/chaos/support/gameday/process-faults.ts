import type { Fault, Faults } from './fault.js';
import { Stage } from './stage.js';

const SKEW = new URL('../skew.mjs', import.meta.url).href;

const skewed = (seconds: number) => ({
  NODE_OPTIONS: `--import=${SKEW}`,
  CHAOS_SKEW_MS: String(seconds * 1000),
});

const clock = (name: string, seconds: number): Fault => ({
  name,
  alerts: ['ClockSkewed'],
  begin: (stage) => stage.replace('worker', skewed(seconds)),
  end: (stage) => stage.replace('worker'),
});

export const processFaults = (): Faults => ({
  start: () => Stage.start(),
  faults: [
    {
      name: 'the API is killed',
      alerts: ['ProcessDown'],
      begin: ({ api }) => api.kill(),
      end: (stage) => stage.replace('api'),
    },
    {
      name: 'the API hangs',
      alerts: ['ProcessDown'],
      begin: async ({ api }) => void process.kill(api.pid, 'SIGSTOP'),
      end: (stage) => stage.replace('api'),
    },
    {
      name: 'the only worker was stopped',
      alerts: ['ProcessDown', 'WorkerMissing'],
      begin: async ({ worker }) => void (await worker.stop()),
      end: (stage) => stage.replace('worker'),
    },
    {
      name: 'the only worker hangs',
      alerts: ['ProcessDown', 'WorkerMissing'],
      begin: async ({ worker }) => void process.kill(worker.pid, 'SIGSTOP'),
      end: (stage) => stage.replace('worker'),
    },
    clock('the clock of the worker is 20 s ahead', 20),
    clock('the clock of the worker is an hour behind', -3600),
  ],
});
