import { useEffect, useMemo, useState } from 'preact/hooks';
import { Api, reopen, Refusal, type OnboardingFacts, type StepState } from './api.js';
import { notifyHost } from './host.js';
import { Closed, type ClosedBy } from './outcome.js';
import { PageContext, type Page } from './page.js';
import { PlaceKeeper } from './place.js';
import { Resume } from './resume.js';
import { Screens, stepOf } from './screens.js';
import { formatIn } from './messages.js';

/** The current screen follows from the stage on the server and from the place that the tab stores. */
export function App({ opened }: { opened: OnboardingFacts }) {
  const [facts, setFacts] = useState(opened);
  const keeper = useMemo(() => new PlaceKeeper(opened.userId), []);
  const api = useMemo(
    () =>
      Object.assign(new Api(opened.steps, keeper.read().browser!), {
        session: keeper.read().session ?? null,
      }),
    [],
  );
  const format = useMemo(() => formatIn(facts.messages), [facts.messages]);
  const [place, setPlace] = useState(keeper.read());
  const [state, setState] = useState<StepState | null>(null);
  const [notice, setNotice] = useState<string | null>(null);
  const [closed, setClosed] = useState<ClosedBy | null>(null);

  const keep: typeof keeper.change = (change) => {
    keeper.change(change);
    setPlace(keeper.read());
  };
  const follow = (next: StepState): void => {
    if (next.session !== undefined) {
      api.session = next.session;
      keep({ session: next.session, codeSentAt: undefined });
    }
    if (next.stage !== state?.stage) setNotice(null);
    // There is no former state after a reload.
    if (state !== null && next.stage !== state.stage) keep({ changing: undefined });
    setState(next);
  };
  const endSession = (): void => {
    api.session = null;
    keep({ session: undefined, codeSentAt: undefined });
    setState(null);
    setNotice(format('sessionEnded'));
  };
  /** The stage or the terms have changed, or the account is deactivating. */
  const catchUp = async (refusal: Refusal): Promise<boolean> => {
    setFacts(await reopen());
    if (api.session === null || 'terms_version' in refusal.errors || 'privacy_version' in refusal.errors)
      return false;
    const now = await api.step('state', {});
    const moved = now.stage !== state?.stage;
    follow(now);
    if (moved) setNotice(format('troubleMoved'));
    return moved;
  };
  const leave = async (refusal: Refusal): Promise<boolean> => {
    if (refusal.sessionEnded) return (endSession(), true);
    const by = closedBy(refusal);
    if (by !== null) return (setClosed(by), true);
    if (refusal.status !== 409) return false;
    try {
      return await catchUp(refusal);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status === 409) return (setClosed('refusedClosing'), true);
      if (error.sessionEnded || closedBy(error) !== null) return leave(error);
      return false;
    }
  };
  const page: Page = { facts, api, format, leave };
  const step = state === null && place.session !== undefined ? null : stepOf(state, place);
  useEffect(() => {
    if (closed === null && step !== null) notifyHost(facts, step);
  }, [step, closed]);
  return (
    <PageContext.Provider value={page}>
      {closed !== null ? (
        <Closed by={closed} format={format} />
      ) : step === null ? (
        <Resume follow={follow} />
      ) : (
        <Screens
          state={state}
          place={place}
          notice={notice}
          step={step}
          keep={keep}
          follow={follow}
          setNotice={setNotice}
        />
      )}
    </PageContext.Provider>
  );
}

function closedBy({ status }: Refusal): ClosedBy | null {
  if (status === 403) return 'refusedSuspended';
  return status === 404 ? 'refusedLink' : null;
}
