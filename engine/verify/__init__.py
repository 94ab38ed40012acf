"""After the fix: did the symptom move as promised, and is the return no worse?"""
