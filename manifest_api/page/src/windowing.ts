// Only what is in sight is in the document, so that thousands of rows scroll smoothly.

import type { RefObject } from "preact";
import { useEffect, useState } from "preact/hooks";

const BEYOND = 400;

export interface Sight {
  readonly from: number;
  readonly to: number;
}

/** The part of a scrolled element that is in sight, in pixels from its top, with some more above and below. */
export function useSight(box: RefObject<HTMLElement | null>): Sight {
  const [sight, setSight] = useState<Sight>({ from: 0, to: 2_000 });
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    let pending = 0;
    const look = (): void => {
      pending = 0;
      // Steps, so that not every pixel of a movement draws again.
      const from = Math.floor((element.scrollTop - BEYOND) / 200) * 200;
      const to = Math.ceil((element.scrollTop + element.clientHeight + BEYOND) / 200) * 200;
      setSight((before) => (before.from === from && before.to === to ? before : { from, to }));
    };
    const plan = (): void => {
      pending ||= requestAnimationFrame(look);
    };
    look();
    element.addEventListener("scroll", plan, { passive: true });
    const sizes = new ResizeObserver(plan);
    sizes.observe(element);
    return () => {
      cancelAnimationFrame(pending);
      element.removeEventListener("scroll", plan);
      sizes.disconnect();
    };
  }, []);
  return sight;
}
