import type { RefObject } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { closeCamera, openCamera, type CameraTrouble } from './camera.js';

interface Camera {
  readonly video: RefObject<HTMLVideoElement | null>;
  readonly stage: 'starting' | 'live' | CameraTrouble;
  /** Opens the camera again. */
  readonly again: () => void;
}

/** Opens the camera for a screen, and closes it with the screen. */
export function useCamera(facing: 'user' | 'environment'): Camera {
  const video = useRef<HTMLVideoElement>(null);
  const [stage, setStage] = useState<Camera['stage']>('starting');
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    setStage('starting');
    let stream: MediaStream | null = null;
    let over = false;
    const open = async (): Promise<void> => {
      const opened = await openCamera(facing);
      if (typeof opened === 'string') {
        if (!over) setStage(opened);
        return;
      }
      const view = video.current;
      if (over || view === null) return closeCamera(opened);
      stream = opened;
      view.srcObject = opened;
      // Unplugged, or no longer permitted.
      for (const track of opened.getVideoTracks())
        track.addEventListener('ended', () => setStage('cameraUnknown'));
      await view.play().catch(() => undefined);
      if (!over) setStage('live');
    };
    void open();
    return () => {
      over = true;
      if (stream !== null) closeCamera(stream);
    };
  }, [facing, attempt]);
  return { video, stage, again: () => setAttempt((attempts) => attempts + 1) };
}
